// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command, CommanderError } from 'commander';
import {
  addComponentOptions,
  defaultListen,
  type ComponentOptions,
} from '../../src/app/component-options.ts';
import { leaseNamespaceOf } from '../../src/app/lease-options.ts';
import { memberName } from '../../src/app/member-name.ts';

/** What the flags of a component come to. */
function options(...args: readonly string[]): ComponentOptions {
  const command = addComponentOptions(new Command('signer'));
  command.exitOverride().configureOutput({ writeErr: () => undefined });
  return command.parse(args, { from: 'user' }).opts();
}

test('in a cluster no flag is needed: keys in a namespace of their own, ten minutes of propagation', () => {
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

test('outside of a pod nobody but this machine may ask', () => {
  assert.equal(defaultListen({}), '127.0.0.1:8080');
  assert.equal(defaultListen({ KUBERNETES_SERVICE_HOST: '10.0.0.1' }), '0.0.0.0:8080');
});

test('prefixes are gathered, durations are seconds', () => {
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

test('Leases are taken in the pod’s own namespace, where a flag says, or nowhere', () => {
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

test('a replica’s Lease is named for its pod; outside of a pod by chance', () => {
  const random = (size: number): Uint8Array => new Uint8Array(size).fill(0xab);
  const pod = 'countersign-signer-7d9c5bd7f-x2x4q';
  assert.equal(memberName('signer', pod, random), pod);
  assert.equal(memberName('signer', 'other-0', random), 'countersign-signer-other-0');
  assert.equal(memberName('signer', undefined, random), 'countersign-signer-ababababab');
  assert.equal(memberName('signer', 'No_Name', random), 'countersign-signer-ababababab');
});

const refused: [law: string, args: string[], message: RegExp][] = [
  ['a Lease that no API server renews in time', ['--lease-duration', '2s'], /write 3s to 5m/],
  [
    'a duration that is none',
    ['--propagation', '10'],
    /'--propagation <duration>' argument '10' is invalid\. .*"24h"/,
  ],
  ['a format that is none', ['--log-format', 'xml'], /'--log-format <format>'.*json, pretty/],
  [
    'a level that is none',
    ['--log-level', 'loud'],
    /'--log-level <level>'.*debug, info, warn, error/,
  ],
  ['a flag that is none', ['--token', 'x'], /unknown option '--token'/],
  ['a word too many', ['now'], /too many arguments/],
];

for (const [law, args, message] of refused) {
  test(`refused, and the flag is named: ${law}`, () => {
    assert.throws(
      () => options(...args),
      (error) =>
        error instanceof CommanderError && error.exitCode !== 0 && message.test(error.message),
    );
  });
}
