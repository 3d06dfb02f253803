// SPDX-License-Identifier: Apache-2.0
/**
 * An upgrade gives rights before the pods change, and takes rights away when no old pod is left.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { KubeError } from '#kube/client/kube-error.ts';
import { withKeptRules } from '#kube/apply/objects/kept-rules.ts';
import { titleOf, type ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { marked } from '#kube/apply/objects/mark.ts';
import { reconcileAll, type PassReport } from '#kube/apply/reconcile-all.ts';

const OWNER = { apiVersion: 'v1', kind: 'K', name: 'o', uid: 'ours', label: 'l' };
const RBAC = 'rbac.authorization.k8s.io/v1';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

const rule = (resource: string, ...verbs: string[]): Rule => ({
  apiGroups: [''],
  resources: [resource],
  verbs,
});
const roleOf = (rules: readonly Rule[], name = 'x', component = 'x'): ManagedObject => ({
  apiVersion: RBAC,
  kind: 'ClusterRole',
  metadata: { name, labels: { 'app.kubernetes.io/component': component } },
  rules,
});
const deploymentOf = (image: string, name = 'x'): ManagedObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'n', labels: { 'app.kubernetes.io/component': name } },
  spec: { replicas: 1, image },
});
const ROLLED_OUT = {
  observedGeneration: 1,
  replicas: 1,
  updatedReplicas: 1,
  availableReplicas: 1,
};
const OLD_PODS = { ...ROLLED_OUT, replicas: 2, availableReplicas: 1 };

/** Server-side apply by the only manager that there is. */
class Cluster {
  readonly objects = new Map<string, ManagedObject>();
  /** Of the Deployment, after each write of it. */
  status: object = ROLLED_OUT;
  /** Refuses a role with these many rules or more. */
  maxRules = Infinity;
  readonly written: ManagedObject[] = [];

  rules(name = 'x'): unknown {
    return this.objects.get(`ClusterRole ${name}`)?.['rules'];
  }

  async pass(...objects: readonly ManagedObject[]): Promise<PassReport> {
    const write = (object: ManagedObject): Promise<ManagedObject> => {
      const { rules } = object;
      if (Array.isArray(rules) && rules.length >= this.maxRules) {
        const message = 'is attempting to grant RBAC permissions not currently held';
        const what = `PATCH ${titleOf(object)}`;
        return Promise.reject(new KubeError({ status: 403, what, body: { message } }));
      }
      const stored =
        object.kind === 'Deployment' ? { ...object, status: this.status } : { ...object };
      this.objects.set(titleOf(object), stored);
      this.written.push(stored);
      return Promise.resolve(stored);
    };
    return reconcileAll({
      objects,
      removable: new Set(this.objects.keys()),
      owner: OWNER,
      writer: {
        read: (each) => Promise.resolve(this.objects.get(titleOf(each))),
        apply: write,
        patch: (each) => write(each),
        remove: (each) => Promise.resolve(void this.objects.delete(titleOf(each))),
      },
      watches: {
        get: () => undefined,
        written: () => undefined,
        all: () => [...this.objects.values()],
      },
      accepted: new Set<string>(),
      installing: true,
      heldUntil: () => undefined,
      signal: new AbortController().signal,
    });
  }

  /** What the Deployment's controller writes. */
  becomes(status: object): void {
    this.status = status;
    const title = 'Deployment n/x';
    const deployment = this.objects.get(title);
    if (deployment !== undefined) this.objects.set(title, { ...deployment, status });
  }
}

const BEFORE = [rule('pods', 'get'), rule('leases', 'create')];
const AFTER = [rule('leases', 'create'), rule('services', 'list')];

async function installed(): Promise<Cluster> {
  const cluster = new Cluster();
  await cluster.pass(roleOf(BEFORE), deploymentOf('v1'));
  assert.deepEqual(cluster.rules(), BEFORE);
  return cluster;
}

test('while old pods are left, a role has what they need and what the new ones need', async () => {
  const cluster = await installed();
  cluster.status = OLD_PODS;
  const { narrowing } = await cluster.pass(roleOf(AFTER), deploymentOf('v2'));
  assert.deepEqual(cluster.rules(), [...BEFORE, rule('services', 'list')]);
  assert.deepEqual(narrowing, ['ClusterRole x']);
  const kinds = cluster.written.slice(2).map(({ kind }) => kind);
  assert.deepEqual(kinds, ['ClusterRole', 'Deployment'], 'it grows before the pods change');
  const again = await cluster.pass(roleOf(AFTER), deploymentOf('v2'));
  assert.deepEqual(again.changes, [], 'waiting writes nothing');
});

test('once no old pod is left, it has what is desired and nothing else', async () => {
  const cluster = await installed();
  cluster.status = OLD_PODS;
  await cluster.pass(roleOf(AFTER), deploymentOf('v2'));
  cluster.becomes(ROLLED_OUT);
  const { narrowing } = await cluster.pass(roleOf(AFTER), deploymentOf('v2'));
  assert.deepEqual(cluster.rules(), AFTER);
  assert.deepEqual(narrowing, []);
  const { changes } = await cluster.pass(roleOf(AFTER), deploymentOf('v2'));
  assert.deepEqual(changes, []);
});

test('rules that another writer added go at once, whatever rolls out', async () => {
  const cluster = await installed();
  const title = 'ClusterRole x';
  const live = cluster.objects.get(title);
  assert.ok(live !== undefined);
  cluster.objects.set(title, { ...live, rules: [...BEFORE, rule('secrets', 'get')] });
  cluster.becomes(OLD_PODS);
  await cluster.pass(roleOf(BEFORE), deploymentOf('v1'));
  assert.deepEqual(cluster.rules(), BEFORE);
});

test('a role that is no longer desired goes when no old pod is left', async () => {
  const cluster = await installed();
  await cluster.pass(roleOf(BEFORE), roleOf(BEFORE, 'y'), deploymentOf('v1'));
  cluster.status = OLD_PODS;
  const { narrowing } = await cluster.pass(roleOf(BEFORE), deploymentOf('v2'));
  assert.deepEqual(narrowing, ['ClusterRole y']);
  assert.deepEqual(cluster.rules('y'), BEFORE);
  cluster.becomes(ROLLED_OUT);
  await cluster.pass(roleOf(BEFORE), deploymentOf('v2'));
  assert.equal(cluster.rules('y'), undefined);
});

test('a role waits for the pods of its own component, and of no other', async () => {
  const cluster = await installed();
  cluster.status = OLD_PODS;
  await cluster.pass(roleOf(BEFORE), deploymentOf('v1'), deploymentOf('v2', 'other'));
  cluster.becomes(ROLLED_OUT);
  const { narrowing } = await cluster.pass(
    roleOf(AFTER),
    deploymentOf('v1'),
    deploymentOf('v2', 'other'),
  );
  assert.deepEqual(narrowing, []);
  assert.deepEqual(cluster.rules(), AFTER);
});

test('a role goes at once with its component, whatever rolls out', async () => {
  const cluster = await installed();
  await cluster.pass(roleOf(BEFORE), roleOf(BEFORE, 'y', 'gone'), deploymentOf('v1'));
  cluster.status = OLD_PODS;
  const { narrowing } = await cluster.pass(roleOf(BEFORE), deploymentOf('v2'));
  assert.deepEqual(narrowing, []);
  assert.equal(cluster.rules('y'), undefined);
});

test('new pods that do not get ready keep no old right, and pods that are ending do', async () => {
  const cluster = await installed();
  cluster.status = { ...ROLLED_OUT, availableReplicas: 0, terminatingReplicas: 1 };
  const ending = await cluster.pass(roleOf(AFTER), deploymentOf('v2'));
  assert.deepEqual(ending.narrowing, ['ClusterRole x']);
  cluster.becomes({ ...ROLLED_OUT, availableReplicas: 0 });
  const ended = await cluster.pass(roleOf(AFTER), deploymentOf('v2'));
  assert.deepEqual(ended.narrowing, []);
  assert.deepEqual(cluster.rules(), AFTER);
});

test('an operator that may not grant both grants what the new pods need', async () => {
  const cluster = await installed();
  cluster.status = OLD_PODS;
  cluster.maxRules = 3;
  const { problems } = await cluster.pass(roleOf(AFTER), deploymentOf('v2'));
  assert.deepEqual(cluster.rules(), AFTER);
  assert.deepEqual(problems, []);
});

const words = fc.constantFrom('a', 'b', 'c');
const lists = fc.uniqueArray(words, { minLength: 1, maxLength: 3 });
const someRules: fc.Arbitrary<readonly Rule[]> = fc.array(
  fc.oneof(
    fc.record({ apiGroups: lists, resources: lists, verbs: lists }),
    fc.record({ apiGroups: lists, resources: lists, verbs: lists, resourceNames: lists }),
  ),
  { maxLength: 4 },
);

/** Every single permission of these rules; `*` in place of a name is every name. */
function grants(rules: readonly Rule[]): ReadonlySet<string> {
  const all = rules.flatMap(({ apiGroups, resources, verbs, resourceNames }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.flatMap((verb) =>
          (resourceNames ?? ['a', 'b', 'c', '*']).map((name) =>
            [group, resource, verb, name].join(' '),
          ),
        ),
      ),
    ),
  );
  return new Set(all);
}

test('a role that keeps rules grants what both grant, and nothing else', () => {
  fc.assert(
    fc.property(someRules, someRules, (before, after) => {
      const wide = withKeptRules(roleOf(after), marked(roleOf(before), OWNER));
      const both = new Set([...grants(before), ...grants(after)]);
      if (wide === undefined) assert.deepEqual(both, new Set(grants(after)));
      else assert.deepEqual(grants(wide['rules'] as readonly Rule[]), both);
    }),
  );
});
