// SPDX-License-Identifier: Apache-2.0
/** Objects of others, and words of others, in a pass and in the status that follows from it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InstallationObject } from '#api/operator/installation.ts';
import type { Condition } from '#api/request/conditions.ts';
import { decideStatus } from '#install/reconcile/decide.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { titleOf, type ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { marked, type Owner } from '#kube/apply/objects/mark.ts';
import { reconcileAll, type PassReport } from '#kube/apply/reconcile-all.ts';

const OWNER: Owner = { apiVersion: 'v1', kind: 'K', name: 'cluster', uid: 'ours', label: 'l' };
const object = (kind: string, name: string): ManagedObject =>
  marked({ apiVersion: 'v1', kind, metadata: { name, namespace: 'n', uid: name } }, OWNER);

interface Cluster {
  /** What is there with our label and our owner. */
  readonly there?: readonly ManagedObject[];
  readonly removable?: readonly ManagedObject[];
  /** What the API server says to every write. */
  readonly refusal?: KubeError;
}

/** One pass over one Service that is missing. */
async function passed({ there = [], removable = [], refusal }: Cluster): Promise<{
  readonly report: PassReport;
  readonly removed: readonly string[];
}> {
  const removed: string[] = [];
  const report = await reconcileAll({
    objects: [{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'own', namespace: 'n' } }],
    removable: new Set(removable.map(titleOf)),
    owner: OWNER,
    writer: {
      read: () => Promise.resolve(undefined),
      apply: (wanted) => (refusal ? Promise.reject(refusal) : Promise.resolve(wanted)),
      patch: () => Promise.reject(new Error('nothing is foreign')),
      remove: (each) => {
        removed.push(titleOf(each));
        return refusal ? Promise.reject(refusal) : Promise.resolve();
      },
    },
    watches: { get: () => undefined, written: () => undefined, all: () => there },
    accepted: new Set<string>(),
    installing: false,
    heldUntil: () => undefined,
    signal: new AbortController().signal,
  });
  return { report, removed };
}

const INSTALLED: InstallationObject = {
  apiVersion: 'v1',
  kind: 'K',
  metadata: { name: 'cluster', uid: 'ours', generation: 1 },
  spec: { version: '0.1.0' },
} as InstallationObject;

/** The condition Degraded after a pass. */
function degraded(report: PassReport): Condition & { readonly message: string } {
  const { conditions = [] } = decideStatus({
    object: INSTALLED,
    outcome: { desired: { oldest: false, unknownArguments: [] }, report },
    operatorVersion: '0.1.0',
    now: 0,
  });
  const found = conditions.find(({ type }) => type === 'Degraded');
  assert.ok(found?.message);
  return { ...found, message: found.message };
}

test('another’s object that names our owner is reported and left alone, no failure', async () => {
  const stranger = object('Service', 'stranger');
  const forbidden = new KubeError({ status: 403, what: 'DELETE', body: { message: 'no' } });
  const gone = object('Service', 'left-out');
  const { report, removed } = await passed({ there: [stranger, gone], removable: [gone] });
  assert.deepEqual(removed, ['Service n/left-out']);
  assert.deepEqual(report.unexpected, [stranger]);
  assert.equal(report.failed, false);
  assert.deepEqual(report.problems, []);
  const { status, message } = degraded(report);
  assert.equal(status, 'False');
  assert.match(message, /^left alone, .*: Service n\/stranger; delete it, or take the owner/);
  // What may be removed and is not: that is a failure.
  const lost = await passed({ there: [gone], removable: [gone], refusal: forbidden });
  assert.equal(lost.report.forbidden, true);
});

test('ten thousand such objects make one message that can be read', async () => {
  const there = Array.from({ length: 10_000 }, (_, index) => object('Service', `x${index}`));
  const { report, removed } = await passed({ there });
  assert.deepEqual(removed, []);
  const { status, message } = degraded(report);
  assert.equal(status, 'False');
  assert.match(message, / and 9995 more; /);
  assert.ok(message.length < 600, message);
});

/** As k8s.io/kubernetes/pkg/registry/rbac/validation writes it, for a role that grants a lot. */
const ESCALATION = [
  'clusterrolebindings.rbac.authorization.k8s.io "countersign-signer" is forbidden: user "system:serviceaccount:countersign-system:countersign-operator" (groups=["system:serviceaccounts" "system:serviceaccounts:countersign-system" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:',
  ...Array.from(
    { length: 90 },
    (_, index) => `{APIGroups:["g${index}"], Resources:["things"], Verbs:["get" "list" "watch"]}`,
  ),
].join('\n');

test('the report of a refused grant is cut to a readable length and says what to do', async () => {
  const refusal = new KubeError({
    status: 403,
    what: 'PATCH /x',
    body: { reason: 'Forbidden', message: ESCALATION },
  });
  const { report } = await passed({ refusal });
  const { reason, message } = degraded(report);
  assert.equal(reason, 'ObjectsDiffer');
  assert.match(
    message,
    /^Service n\/own: .*not currently held: \{APIGroups:\["g0"\].* and 89 more; /,
  );
  assert.match(message, /print the roles of the operator again and apply them$/);
  assert.ok(message.length < 800, String(message.length));
});

test('a message names five objects, and counts the rest', () => {
  const problems = Array.from({ length: 60 }, (_, index) => `Service n/x${index}: no`);
  const none = {
    changes: [],
    unexpected: [],
    waiting: [],
    narrowing: [],
    rollouts: [],
    heldUntil: undefined,
  };
  const { message } = degraded({ ...none, problems, failed: true, forbidden: false });
  assert.match(message, /^Service n\/x0: no; .*; Service n\/x4: no; and 55 more$/);
});
