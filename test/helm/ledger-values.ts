// SPDX-License-Identifier: Apache-2.0
/** Values of the ledger, as in values.ts. */
const ONE = { signers: [{ name: 'example.com/workload' }] };
const ENABLED = { ...ONE, components: { ledger: { enabled: true } } };

/** What the aggregated API takes. */
const AGGREGATED = { aggregatedApi: true, postgres: { secret: 'ledger-database' } };
const TWO = { ledger: { enabled: true, replicas: 2 } };

const SERVER = 'postgresql://countersign@db.example.com:5432/records?sslmode=verify-full';
const MONITORED = [
  { namespace: 'team-a', name: 'web-tls' },
  { namespace: 'team-b', name: 'web-tls' },
  { namespace: 'team-a', name: 'api-tls' },
];

export const GOOD_LEDGER: Readonly<Record<string, readonly [values: object]>> = {
  'checkpoints that leave the cluster': [
    {
      ...ENABLED,
      ledger: {
        checkpoints: {
          webhook: 'https://hooks.example.com/checkpoints?a=b&c=%2F',
          signWebhook: true,
          objectStore: true,
          witnesses: [`witness.example/a+0123abcd+${'A'.repeat(44)}@https://witness.example/a/`],
          ownCa: true,
          interval: '10s',
        },
        retention: '400d',
        omit: ['request', 'groups'],
      },
    },
  ],
  'a PostgreSQL, whose password alone is secret, and three replicas': [
    {
      ...ONE,
      components: { ledger: { enabled: true, replicas: 3 } },
      ledger: {
        mode: 'required',
        postgres: { secret: 'ledger-database', url: SERVER, ownCa: true },
        monitoredSecrets: MONITORED,
      },
    },
  ],
  'a PostgreSQL whose Secret has the whole URL, beside Signers of namespaces': [
    {
      ...ENABLED,
      namespacedSigners: { enabled: true, secrets: [{ namespace: 'team-a', name: 'ca' }] },
      ledger: { mode: 'off', postgres: { secret: '1e3' }, monitoredSecrets: MONITORED.slice(0, 1) },
    },
  ],
  'a ledger beside Signers of namespaces alone': [
    { namespacedSigners: { enabled: true }, components: { ledger: { enabled: true } } },
  ],
  'components that read what happened before their start': [
    {
      ...ONE,
      components: { ledger: { enabled: true }, 'pod-refresher': { enabled: true } },
      ledger: { facts: true },
    },
  ],
  'components that read what happened before their start, beside an aggregated API': [
    {
      ...ONE,
      components: { ...TWO, 'pod-refresher': { enabled: true } },
      ledger: { ...AGGREGATED, facts: true },
    },
  ],
  'pcr-issuer alone, which reads records, pods and Services': [
    {
      ...ENABLED,
      podServices: true,
      ledger: { mode: 'required', facts: true },
    },
  ],
  'an aggregated API, with two replicas and a PostgreSQL': [
    { ...ONE, components: TWO, ledger: AGGREGATED },
  ],
  'an aggregated API, with two replicas of everything': [
    { ...ENABLED, defaults: { replicas: 2 }, ledger: AGGREGATED },
  ],
  'what a ledger would be told, without one': [
    { ...ONE, ledger: { postgres: { secret: 'x' }, monitoredSecrets: MONITORED } },
  ],
};

const monitored = (namespace: string, name: string): object => ({
  ...ENABLED,
  ledger: { monitoredSecrets: [{ namespace, name }] },
});

export const BAD_LEDGER: Readonly<Record<string, readonly [values: object, says: RegExp]>> = {
  'two replicas of a ledger on one volume': [
    { ...ONE, components: { ledger: { enabled: true, replicas: 2 } } },
    /components\.ledger\.replicas: its volume is for one pod, and 2 are wanted; write 1, or name/,
  ],
  'an aggregated API in the namespace of Kubernetes': [
    {
      ...ONE,
      namespace: 'kube-system',
      components: { ledger: { enabled: true, replicas: 2 } },
      ledger: { aggregatedApi: true, postgres: { secret: 'ledger-database' } },
    },
    /ledger\.aggregatedApi: the components are in kube-system, where the ledger has another Role/,
  ],
  'two replicas of everything, and a ledger on one volume': [
    { ...ENABLED, defaults: { replicas: 2 } },
    /components\.ledger\.replicas: its volume is for one pod, and 2 are wanted/,
  ],
  'facts of a ledger that is not there': [
    { ...ONE, ledger: { facts: true } },
    /ledger\.facts: there is no ledger to read from; set components\.ledger\.enabled=true/,
  ],
  'facts of a ledger that is left out': [
    { ...ONE, components: { ledger: { enabled: false } }, ledger: { facts: true } },
    /ledger\.facts: there is no ledger to read from; set components\.ledger\.enabled=true/,
  ],
  'facts of a ledger in which nothing is recorded': [
    { ...ENABLED, ledger: { mode: 'off', facts: true } },
    /ledger\.facts: with ledger\.mode off nothing is recorded that could be read; write best-effort/,
  ],
  'an aggregated API of no ledger': [
    { ...ONE, ledger: AGGREGATED },
    /ledger\.aggregatedApi: there is no ledger that answers; set components\.ledger\.enabled=true/,
  ],
  'an aggregated API of one pod with a volume': [
    { ...ENABLED, ledger: { aggregatedApi: true } },
    /ledger\.aggregatedApi: while the ledger is away, no namespace of the cluster is deleted, and/,
  ],
  'an aggregated API of one replica': [
    { ...ENABLED, ledger: AGGREGATED },
    /ledger\.aggregatedApi: .*; write 2 into components\.ledger\.replicas/,
  ],
  'a password in the URL of a database': [
    {
      ...ENABLED,
      ledger: { postgres: { secret: 'x', url: 'postgresql://a:secret@db.example/records' } },
    },
    /ledger\/postgres\/url.*does not match pattern/,
  ],
  'a database without a Secret': [
    { ...ENABLED, ledger: { postgres: { url: SERVER } } },
    /ledger\.postgres\.secret: it is empty; name the Secret with the password/,
  ],
  'no valid Secret of a database': [
    { ...ENABLED, ledger: { postgres: { secret: '-x' } } },
    /ledger\.postgres\.secret: "-x" is not a valid name of a Secret; write one such as/,
  ],
  'a wildcard for the Secret of a database': [
    { ...ENABLED, ledger: { postgres: { secret: '*' } } },
    /ledger\/postgres\/secret.*does not match pattern/,
  ],
  'a monitored Secret of a CA': [
    monitored('countersign-keys', 'workload-ca'),
    /ledger\.monitoredSecrets\[0\]\.namespace: "countersign-keys" is for the components, the keys/,
  ],
  'a monitored Secret beside the components': [
    monitored('countersign-system', 'countersign-ledger-key'),
    /monitoredSecrets\[0\]\.namespace: "countersign-system" is for the components, the keys/,
  ],
  'a monitored Secret of Kubernetes itself': [
    monitored('kube-system', 'x'),
    /monitoredSecrets\[0\]\.namespace: "kube-system" is for the components, the keys/,
  ],
  'a monitored Secret of a team’s CA': [
    {
      ...monitored('team-a', 'ca'),
      namespacedSigners: { enabled: true, secrets: [{ namespace: 'team-a', name: 'ca' }] },
    },
    /ledger\.monitoredSecrets\[0\]: team-a\/ca is the Secret of a CA; name one of a workload/,
  ],
  'a monitored Secret without a name': [
    monitored('team-a', ''),
    /monitoredSecrets\[0\]\.name: "" is not a valid name of a Secret; write one such as web-tls/,
  ],
  'a wildcard for a monitored Secret': [
    monitored('team-a', '*'),
    /ledger\/monitoredSecrets\/0\/name.*does not match pattern/,
  ],
};
