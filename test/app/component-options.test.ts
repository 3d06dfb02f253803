// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Command, CommanderError } from 'commander';
import {
  addComponentOptions,
  type ComponentOptions,
  kubeconfigFromEnvironment,
  leaseNamespaceOf,
} from '#app/component-options.ts';
import { memberLease } from '#component/leases.ts';

/** What the flags of a component come to. */
function options(...args: readonly string[]): ComponentOptions {
  const command = addComponentOptions(new Command('signer'));
  command.exitOverride().configureOutput({ writeErr: () => undefined });
  return command.parse(args, { from: 'user' }).opts();
}

test('by default keys have their own namespace, and propagation takes ten minutes', () => {
  const { listen: _, ...rest } = options();
  assert.deepEqual(rest, {
    leases: true,
    leaseDuration: 15,
    secretNamespace: 'countersign-keys',
    servingCertificate: '/run/countersign/serving',
    logFormat: 'json',
    logLevel: 'info',
    reservedPrefix: [],
    propagation: 600,
  });
});

test('in a pod the server listens on both families, outside on localhost only', () => {
  const listenIn = (environment: Record<string, string>): unknown =>
    addComponentOptions(new Command('signer'), environment).opts()['listen'];
  assert.equal(listenIn({}), '127.0.0.1:8080');
  assert.equal(listenIn({ KUBERNETES_SERVICE_HOST: '10.0.0.1' }), ':8080');
});

test('repeated prefixes accumulate, and durations become seconds', () => {
  const found = options(
    '--reserved-prefix',
    'a:',
    '--reserved-prefix',
    'b:',
    '--propagation',
    '1m30s',
  );
  assert.deepEqual([found.reservedPrefix, found.propagation], [['a:', 'b:'], 90]);
});

test('Leases are in the pod’s namespace, in that of the flag, or disabled', () => {
  const own = (): string => 'team\n';
  const none = (): string => {
    throw new Error('ENOENT');
  };
  assert.equal(leaseNamespaceOf(options(), true, own), 'team');
  assert.equal(leaseNamespaceOf(options(), true, none), undefined);
  assert.equal(leaseNamespaceOf(options(), false, own), undefined);
  assert.equal(leaseNamespaceOf(options('--lease-namespace', 'x'), false, none), 'x');
  assert.equal(leaseNamespaceOf(options('--no-leases'), true, own), undefined);
});

test('the Lease of a replica has the name of its pod, and a random one outside a pod', () => {
  const random = (size: number): Uint8Array => new Uint8Array(size).fill(0xab);
  const pod = 'countersign-signer-7d9c5bd7f-x2x4q';
  assert.equal(memberLease('signer', pod, random), pod);
  assert.equal(memberLease('signer', 'other-0', random), 'countersign-signer-other-0');
  assert.equal(memberLease('signer', undefined, random), 'countersign-signer-ababababab');
  assert.equal(memberLease('signer', 'No_Name', random), 'countersign-signer-ababababab');
});

const refused: [law: string, args: string[], message: RegExp][] = [
  ['a Lease too short to renew', ['--lease-duration', '2s'], /must be from 3s to 5m/],
  [
    'a value that is no duration',
    ['--propagation', '10'],
    /'--propagation <duration>' argument '10' is invalid\. .*"24h"/,
  ],
  ['an unknown format', ['--log-format', 'xml'], /'--log-format <format>'.*json, pretty/],
  ['an unknown level', ['--log-level', 'loud'], /'--log-level <level>'.*debug, info, warn, error/],
  ['an unknown flag', ['--token', 'x'], /unknown option '--token'/],
  ['an extra argument', ['now'], /too many arguments/],
];

for (const [law, args, message] of refused) {
  test(`rejected, with the name of the flag: ${law}`, () => {
    assert.throws(
      () => options(...args),
      (error) =>
        error instanceof CommanderError && error.exitCode !== 0 && message.test(error.message),
    );
  });
}

test('KUBECONFIG is one file, or several in its order', () => {
  assert.equal(kubeconfigFromEnvironment({ KUBECONFIG: '/a/config' }), '/a/config');
  assert.equal(kubeconfigFromEnvironment({ KUBECONFIG: ':/a/config:' }), '/a/config');
  for (const KUBECONFIG of [undefined, '', ':']) {
    assert.equal(kubeconfigFromEnvironment({ KUBECONFIG }), undefined);
  }
  assert.deepEqual(kubeconfigFromEnvironment({ KUBECONFIG: '/a::/b' }), ['/a', '/b']);
});

test('without KUBECONFIG it is the file in the home directory, if there is one', (t) => {
  const HOME = mkdtempSync(join(tmpdir(), 'home-'));
  t.after(() => {
    rmSync(HOME, { recursive: true });
  });
  assert.equal(kubeconfigFromEnvironment({ HOME }), undefined);
  mkdirSync(join(HOME, '.kube'));
  writeFileSync(join(HOME, '.kube/config'), '');
  assert.equal(kubeconfigFromEnvironment({ HOME }), join(HOME, '.kube/config'));
  assert.equal(kubeconfigFromEnvironment({ HOME, KUBECONFIG: '/a/config' }), '/a/config');
  assert.deepEqual(kubeconfigFromEnvironment({ HOME, KUBECONFIG: '/a:/b' }), ['/a', '/b']);
});
