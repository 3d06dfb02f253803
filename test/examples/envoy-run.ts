// SPDX-License-Identifier: Apache-2.0
/**
 * examples/envoy by Envoy's own definitions: what it would refuse when it loads its configuration.
 * Envoy itself does not run.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { buildEnvoyJudge } from './envoy/build.ts';

const EXAMPLE = join(import.meta.dirname, '../../examples/envoy/envoy.yaml');
const BOOTSTRAP = 'envoy.config.bootstrap.v3.Bootstrap';
/** What a file of SDS holds. */
const DISCOVERED = 'envoy.service.discovery.v3.DiscoveryResponse';

interface ConfigMap {
  readonly kind: string;
  readonly data: Readonly<Record<string, string>>;
}

interface Deployment {
  readonly kind: string;
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly [
          {
            readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
          },
        ];
        readonly volumes: readonly {
          readonly name: string;
          readonly projected?: {
            readonly sources: readonly {
              readonly podCertificate?: { keyPath: string; certificateChainPath: string };
              readonly clusterTrustBundle?: { path: string };
            }[];
          };
        }[];
      };
    };
  };
}

const objects = parseAllDocuments(readFileSync(EXAMPLE, 'utf8')).map(
  (each) => each.toJS() as ConfigMap | Deployment,
);
const files = (objects.find(({ kind }) => kind === 'ConfigMap') as ConfigMap).data;
const { spec: pod } = (objects.find(({ kind }) => kind === 'Deployment') as Deployment).spec
  .template;

let judge: string;
before(async () => {
  judge = await buildEnvoyJudge((line) => {
    console.error(line);
  });
});

/** What Envoy's definitions have against a text in YAML. */
function faultsOf(message: string, text: string): readonly string[] {
  const input = `${JSON.stringify({ Message: message, Contents: parse(text) as unknown })}\n`;
  const { stdout, stderr, status } = spawnSync(judge, { input, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout) as readonly string[];
}

function file(name: string): string {
  const text = files[name];
  assert.ok(text !== undefined, name);
  return text;
}

test('Envoy would load its configuration and each file of secrets', () => {
  for (const name of Object.keys(files)) {
    const message = name === 'envoy.yaml' ? BOOTSTRAP : DISCOVERED;
    assert.deepEqual(faultsOf(message, file(name)), [], name);
  }
});

for (const [what, message, text, says] of [
  [
    'a field that there is not',
    BOOTSTRAP,
    ['envoy.yaml', 'require_client', 'requires_client'],
    /unknown field/,
  ],
  [
    'a transport socket without a name',
    BOOTSTRAP,
    ['envoy.yaml', 'name: envoy.transport_sockets.tls', ''],
    /TransportSocket.*Name/,
  ],
  [
    'a message of another kind',
    DISCOVERED,
    ['own.yaml', 'v3.Secret', 'v3.Secrets'],
    /unable to resolve|not found/,
  ],
  [
    'a secret whose file has no name',
    DISCOVERED,
    ['own.yaml', '/run/tls/key.pem', '""'],
    /Filename/,
  ],
  [
    'a watched directory without a path',
    DISCOVERED,
    ['trust.yaml', 'path: /run/tls', 'path: ""'],
    /WatchedDirectory.*Path/,
  ],
] as const) {
  test(`it would refuse ${what}`, () => {
    const [name, from, to] = text;
    assert.ok(file(name).includes(from), from);
    assert.match(faultsOf(message, file(name).replace(from, to)).join(), says);
  });
}

test('the secrets it requests are in the files it names, under the kubelet’s names', () => {
  const asked = [
    ...file('envoy.yaml').matchAll(
      /name: (\S+)\s+sds_config: \{ path_config_source: \{ path: (\S+) \} \}/g,
    ),
  ];
  assert.equal(asked.length, 2);
  for (const [, name = '', path = ''] of asked) {
    const { resources } = parse(file(path.replace('/etc/example/', ''))) as {
      readonly resources: readonly { readonly name: string }[];
    };
    assert.deepEqual(
      resources.map((each) => each.name),
      [name],
    );
    assert.ok(mounted('config').includes(dirname(path)));
  }
  const named = ['own.yaml', 'trust.yaml'].flatMap((name) => [
    ...file(name).matchAll(/filename: ([^ }]+)/g),
  ]);
  const directories = new Set(named.map(([, path = '']) => dirname(path)));
  assert.deepEqual([...directories], mounted('tls'));
  const written = pod.volumes
    .flatMap(({ projected }) => projected?.sources ?? [])
    .flatMap(({ podCertificate, clusterTrustBundle }) => [
      podCertificate?.certificateChainPath,
      podCertificate?.keyPath,
      clusterTrustBundle?.path,
    ])
    .filter((each) => each !== undefined);
  assert.deepEqual(
    named.map(([, path = '']) => path.slice(path.lastIndexOf('/') + 1)),
    written,
  );
});

function mounted(volume: string): readonly string[] {
  const [{ volumeMounts }] = pod.containers;
  return volumeMounts.filter(({ name }) => name === volume).map(({ mountPath }) => mountPath);
}
