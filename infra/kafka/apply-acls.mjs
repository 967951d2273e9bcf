// Gives the user of each role the ACLs of infra/kafka/acls.json. Run it as a user that can alter ACLs:
//   KAFKA_BROKERS=… KAFKA_SASL_USERNAME=… KAFKA_SASL_PASSWORD=… node infra/kafka/apply-acls.mjs
// It is idempotent. It removes no ACLs; use `kafka-acls.sh --remove` for that.
import { readFileSync } from 'node:fs';
import kafkajs from 'kafkajs';
import { openKafka, topicPrefix } from './open-kafka.mjs';

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;
const kafka = openKafka('apply-acls', 'weir-acls');
const acls = JSON.parse(readFileSync(new URL('./acls.json', import.meta.url), 'utf8'));

/** On the broker, the name of a consumer group ends with the name of its topic (packages/adapters/src/kafka/kafka-event-log.ts). */
const resourceOf = ({ topic, group, of }) =>
  group === undefined
    ? { resourceType: AclResourceTypes.TOPIC, resourceName: topicPrefix + topic }
    : { resourceType: AclResourceTypes.GROUP, resourceName: `${group}.${topicPrefix}${of}` };

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

const admin = kafka.admin();
await admin.connect();
try {
  await admin.createAcls({ acl: entries });
  console.log(`${entries.length} rules for ${Object.keys(acls).join(', ')}`);
} finally {
  await admin.disconnect();
}
