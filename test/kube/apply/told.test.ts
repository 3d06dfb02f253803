// SPDX-License-Identifier: Apache-2.0
/** What people are told of an installation: Events and conditions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InstallationObject } from '#api/operator/installation.ts';
import { recordChanges } from '#install/reconcile/act.ts';
import { decideStatus, type InstallationSnapshot } from '#install/reconcile/decide.ts';
import { refuseServer } from '#install/reconcile/server-version.ts';
import type { ObjectChange, PassReport } from '#kube/apply/reconcile-all.ts';
import type { Component } from '#component/contract.ts';
import { recordedClient } from '../../support/kube/recorded-client.ts';

const OBJECT = {
  apiVersion: 'v1',
  kind: 'K',
  metadata: { name: 'cluster', uid: 'ours', generation: 1 },
  spec: { version: '0.1.0' },
} as InstallationObject;

/** The Events of these changes, as `Type Reason: note`. */
function told(...changes: readonly ObjectChange[]): readonly string[] {
  const found: string[] = [];
  const component = {
    events: {
      record: ({ type, reason, note }: { type: string; reason: string; note: string }) => {
        found.push(`${type} ${reason}: ${note}`);
      },
    },
    log: { info: () => undefined },
  } as unknown as Pick<Component, 'events' | 'log'>;
  recordChanges(component, OBJECT, changes);
  return found;
}

test('a removed addition of others is a warning that names object and field', () => {
  const object = 'Deployment n/signer';
  const paths = ['/spec/template/spec/containers/evil', '/spec/template/spec/volumes/x'];
  assert.deepEqual(told({ kind: 'corrected', object, paths }), [
    'Warning ForeignFieldsRemoved: removed what others added to Deployment n/signer (/spec/template/spec/containers/evil and 1 more)',
  ]);
});

test('there is one Event for each kind of change, and it names five objects', () => {
  const many = Array.from({ length: 9 }, (_, index): ObjectChange => {
    return { kind: 'made', object: `Service n/x${index}`, paths: [] };
  });
  const adopted: ObjectChange = {
    kind: 'adopted',
    object: 'Role n/x',
    paths: [],
    from: 'Helm release pki',
  };
  const events = told(...many, adopted, { kind: 'removed', object: 'Service n/y', paths: [] });
  assert.equal(events.length, 3);
  assert.match(events[0] ?? '', /^Normal Made: .*Service n\/x4 and 4 more$/);
  assert.match(events[1] ?? '', /^Normal Adopted: .* from Helm release pki: forget it there/);
  assert.equal(events[2], 'Normal Removed: removed Service n/y');
});

const WHOLE: PassReport = {
  changes: [],
  problems: [],
  unexpected: [],
  waiting: [],
  narrowing: [],
  heldUntil: undefined,
  failed: false,
  forbidden: false,
  rollouts: [
    { name: 'x', done: true, hasOldPods: false, available: true, stuck: false, message: '' },
  ],
};

/** The condition Upgradeable: `Status Reason: message`. */
function upgradeable(desired: Partial<{ oldest: boolean; unknownArguments: string[] }>): string {
  const outcome: InstallationSnapshot['outcome'] = {
    desired: { oldest: false, unknownArguments: [], ...desired },
    report: WHOLE,
  };
  const status = decideStatus({ object: OBJECT, outcome, operatorVersion: '0.1.0', now: 0 });
  const found = status.conditions?.find(({ type }) => type === 'Upgradeable');
  return `${found?.status ?? ''} ${found?.reason ?? ''}: ${found?.message ?? ''}`;
}

test('an unknown argument blocks an upgrade with a condition, like the oldest version', () => {
  assert.match(upgradeable({}), /^True AsExpected: /);
  assert.match(
    upgradeable({ unknownArguments: ['signer --future'] }),
    /^False DangerZone: .*does not know: signer --future$/,
  );
  assert.match(upgradeable({ oldest: true }), /^False OldestVersion: .*raise spec.version first$/);
});

test('a Kubernetes that is too old is refused, with what it is and what would do', async () => {
  const refusal = async (major: string, minor: string): Promise<string | undefined> => {
    const client = recordedClient();
    client.answer(() => ({ major, minor }));
    const found = await refuseServer(client, { minKubernetesMinor: 35 });
    return found && `${found.reason}: ${found.message}`;
  };
  for (const minor of ['35', '36', '37', '37+']) assert.equal(await refusal('1', minor), undefined);
  assert.match((await refusal('1', '34')) ?? '', /^UnsupportedKubernetes: .* 1\.34; 1\.35 is the/);
  for (const [major, minor] of [
    ['1', '9'],
    ['1', ''],
    ['', ''],
    ['0', '99'],
  ] as const)
    assert.match((await refusal(major, minor)) ?? '', /^UnsupportedKubernetes: /);
});

test('the oldest Kubernetes is that of what is installed', async () => {
  const client = recordedClient();
  client.answer(() => ({ major: '1', minor: '33' }));
  const refusal = async (minKubernetesMinor: number): Promise<string | undefined> =>
    (await refuseServer(client, { minKubernetesMinor }))?.message;
  assert.equal(await refusal(32), undefined);
  assert.equal(await refusal(33), undefined);
  assert.match((await refusal(34)) ?? '', /1\.34 is the oldest/);
});
