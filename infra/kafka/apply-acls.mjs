// Gives the user of each role the ACLs of infra/kafka/acls.json. Run it as a user that can alter ACLs:
//   KAFKA_BROKERS=… KAFKA_SASL_USERNAME=… KAFKA_SASL_PASSWORD=… node infra/kafka/apply-acls.mjs
// It is idempotent. It removes no ACLs; use `kafka-acls.sh --remove` for that.
import { readFileSync } from 'node:fs';
import kafkajs from 'kafkajs';

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, Kafka, logLevel, ResourcePatternTypes } = kafkajs;
const env = process.env;
if (!env.KAFKA_BROKERS) {
  console.error('apply-acls: KAFKA_BROKERS is not set: set it, and the other settings KAFKA_*, as for Weir');
  process.exit(2);
}
const acls = JSON.parse(readFileSync(new URL('./acls.json', import.meta.url), 'utf8'));
const prefix = env.KAFKA_TOPIC_PREFIX ?? '';

/** On the broker, the name of a consumer group ends with the name of its topic (packages/adapters/src/kafka/kafka-event-log.ts). */
const resourceOf = ({ topic, group, of }) =>
  group === undefined
    ? { resourceType: AclResourceTypes.TOPIC, resourceName: prefix + topic }
    : { resourceType: AclResourceTypes.GROUP, resourceName: `${group}.${prefix}${of}` };

const operationOf = (name) => AclOperationTypes[name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()];

const entries = Object.entries(acls).flatMap(([user, rules]) =>
  rules.flatMap((rule) =>
    rule.allow.map((operation) => ({
      ...resourceOf(rule),
      resourcePatternType: ResourcePatternTypes.LITERAL,
      principal: `User:${user}`,
      host: '*',
      operation: operationOf(operation),
      permissionType: AclPermissionTypes.ALLOW,
    })),
  ),
);

const ca = env.KAFKA_TLS_CA_FILE ? readFileSync(env.KAFKA_TLS_CA_FILE, 'utf8') : undefined;
const admin = new Kafka({
  clientId: 'weir-acls',
  brokers: (env.KAFKA_BROKERS ?? '').split(',').map((broker) => broker.trim()),
  ...(env.KAFKA_TLS === 'true' ? { ssl: ca === undefined ? true : { ca } } : {}),
  ...(env.KAFKA_SASL_USERNAME
    ? {
        sasl: {
          mechanism: env.KAFKA_SASL_MECHANISM || 'plain',
          username: env.KAFKA_SASL_USERNAME,
          password: env.KAFKA_SASL_PASSWORD,
        },
      }
    : {}),
  logLevel: logLevel.ERROR,
}).admin();
await admin.connect();
try {
  await admin.createAcls({ acl: entries });
  console.log(`${entries.length} rules for ${Object.keys(acls).join(', ')}`);
} finally {
  await admin.disconnect();
}
