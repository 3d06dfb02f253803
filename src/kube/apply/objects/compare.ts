// SPDX-License-Identifier: Apache-2.0
/**
 * Compares a live object with the desired one: what it lacks, and what it has besides. Paths are
 * JSON pointers (RFC 6901). They name an item of a list by its merge key where it has one:
 * `/spec/template/spec/containers/signer/image`.
 */
import { isRecord } from '#base/record.ts';
import { isSameQuantity } from './quantity.ts';

/**
 * Lists of objects that server-side apply merges by a key: field → key (the `listMapKey` of their
 * types).
 */
const MERGE_KEYS: Readonly<Record<string, string>> = {
  containers: 'name',
  initContainers: 'name',
  env: 'name',
  volumes: 'name',
  volumeMounts: 'mountPath',
  imagePullSecrets: 'name',
  matchConditions: 'name',
  webhooks: 'name',
  ownerReferences: 'uid',
};

/** Returns the field that identifies the items of a list, where one field suffices. */
export function mergeKeyOf(field: string): string | undefined {
  return MERGE_KEYS[field];
}

/** The key of a port of a container or a Service. */
function portKey(item: Readonly<Record<string, unknown>>): string | undefined {
  const { containerPort, port, protocol = 'TCP' } = item;
  const number = containerPort ?? port;
  if (typeof number !== 'number' || typeof protocol !== 'string') return undefined;
  return `${number}/${protocol}`;
}

/** Fields whose values are quantities, which have several spellings. */
const WITH_QUANTITIES = new Set(['requests', 'limits']);

/**
 * Reports whether the API server omits the value when it stores an object. `false` is stored:
 * absent may mean true.
 */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/**
 * Returns the paths of the desired fields that `live` lacks. If there are none, `desired` is a
 * recursive subset of `live`. Defaults and fields that others added do not count.
 *
 * @param field - name of the field that both are values of
 */
export function lacking(desired: unknown, live: unknown, path = '', field = ''): readonly string[] {
  if (isRecord(desired) && isRecord(live)) {
    return Object.keys(desired).flatMap((key) =>
      lacking(desired[key], live[key], below(path, key), WITH_QUANTITIES.has(field) ? field : key),
    );
  }
  if (Array.isArray(desired) && Array.isArray(live))
    return lackingItems(desired, live, path, field);
  return isSame(desired, live, field) && !lacksStatus(live, path) ? [] : [path];
}

/**
 * Reports whether a definition lacks the status subresource. Without it, every writer of an object
 * can write its status.
 */
function lacksStatus(live: unknown, path: string): boolean {
  return live === undefined && path.endsWith('/subresources/status');
}

function isSame(desired: unknown, live: unknown, field: string): boolean {
  if (desired === undefined || desired === live) return true;
  if (isEmpty(desired) && isEmpty(live)) return true;
  return WITH_QUANTITIES.has(field) && isSameQuantity(desired, live);
}

function lackingItems(
  desired: readonly unknown[],
  live: readonly unknown[],
  path: string,
  field: string,
): readonly string[] {
  const [wanted, found] = [keyed(desired, field), keyed(live, field)];
  if (wanted === undefined || found === undefined) {
    if (desired.length !== live.length) return [path];
    return desired.flatMap((each, index) => lacking(each, live[index], below(path, index)));
  }
  return [...wanted].flatMap(([key, each]) => lacking(each, found.get(key), below(path, key)));
}

/** Defaults of the API server: field → values. */
const DEFAULTS: Readonly<Record<string, readonly unknown[]>> = {
  // core/v1: containers, probes, ports, volumes (pkg/apis/core/v1/defaults.go).
  terminationMessagePath: ['/dev/termination-log'],
  terminationMessagePolicy: ['File'],
  imagePullPolicy: ['IfNotPresent', 'Always'],
  protocol: ['TCP'],
  scheme: ['HTTP'],
  timeoutSeconds: [1],
  periodSeconds: [10],
  successThreshold: [1],
  failureThreshold: [3],
  defaultMode: [420],
  // core/v1 ObjectFieldSelector.
  apiVersion: ['v1'],
  // admissionregistration.k8s.io/v1.
  matchPolicy: ['Equivalent'],
  failurePolicy: ['Fail'],
  scope: ['*'],
  reinvocationPolicy: ['Never'],
  port: [443],
  // countersign.dev/v1alpha1 ClusterSigner (deploy/crds/clustersigners.yaml).
  maxRetiring: [8],
  crossSigned: [false],
  // core/v1 PodSpec and Service (the same file).
  dnsPolicy: ['ClusterFirst'],
  restartPolicy: ['Always'],
  schedulerName: ['default-scheduler'],
  terminationGracePeriodSeconds: [30],
  type: ['ClusterIP', 'RollingUpdate'],
  sessionAffinity: ['None'],
  internalTrafficPolicy: ['Cluster'],
  // apps/v1 Deployment (pkg/apis/apps/v1/defaults.go).
  progressDeadlineSeconds: [600],
  revisionHistoryLimit: [10],
  maxSurge: ['25%'],
  maxUnavailable: ['25%'],
  // flowcontrol.apiserver.k8s.io/v1.
  lendablePercent: [0],
  // apiextensions.k8s.io/v1.
  strategy: ['None'],
};

/** Structures that the API server fills in, of a Deployment and of a definition. */
const FILLED_IN_STRUCTURES: readonly string[] = ['strategy', 'rollingUpdate', 'conversion'];

/**
 * Returns the paths of fields that `live` has besides the desired ones, the API server's defaults,
 * and empty values. Use it only where this installation manages the whole field.
 */
export function beyond(desired: unknown, live: unknown, path = '', field = ''): readonly string[] {
  if (isRecord(desired) && isRecord(live)) {
    return Object.keys(live).flatMap((key) => {
      // core/v1 ServicePort: the API server fills in the port where no targetPort is given.
      if (key === 'targetPort' && desired[key] === undefined && live[key] === live['port'])
        return [];
      return beyond(desired[key], live[key], below(path, key), key);
    });
  }
  if (Array.isArray(desired) && Array.isArray(live)) return itemsBeyond(desired, live, path, field);
  if (desired !== undefined) return [];
  return isFilledIn(live, field) && !IN_CONTAINER.test(path) ? [] : [path];
}

/** A field that the API server fills in for a pod, and not for a container. */
const IN_CONTAINER = /\/(?:initContainers|containers)\/[^/]+\/restartPolicy$/;

function isFilledIn(live: unknown, field: string): boolean {
  // A volume whose source was removed gets this one. An apply would add ours beside it: invalid.
  if (field === 'emptyDir') return false;
  const defaults = DEFAULTS[field];
  if (defaults?.includes(live) === true) return true;
  // Zero is a value where the default is another one: files that no process may read.
  if (isEmpty(live)) return live !== 0 || defaults === undefined;
  if (!isRecord(live) || !FILLED_IN_STRUCTURES.includes(field)) return false;
  return Object.entries(live).every(([key, value]) => isFilledIn(value, key));
}

function itemsBeyond(
  desired: readonly unknown[],
  live: readonly unknown[],
  path: string,
  field: string,
): readonly string[] {
  const [wanted, found] = [keyed(desired, field), keyed(live, field)];
  if (wanted === undefined || found === undefined) {
    return live.flatMap((each, index) =>
      index < desired.length
        ? beyond(desired[index], each, below(path, index))
        : [below(path, index)],
    );
  }
  return [...found].flatMap(([key, each]) =>
    wanted.has(key) ? beyond(wanted.get(key), each, below(path, key)) : [below(path, key)],
  );
}

/** Returns the items by their merge key, or undefined if only their position identifies them. */
function keyed(items: readonly unknown[], field: string): ReadonlyMap<string, unknown> | undefined {
  const key = MERGE_KEYS[field];
  if (key === undefined && field !== 'ports') return undefined;
  const found = new Map<string, unknown>();
  for (const item of items) {
    if (!isRecord(item)) return undefined;
    const name = key === undefined ? portKey(item) : item[key];
    if (typeof name !== 'string' || found.has(name)) return undefined;
    found.set(name, item);
  }
  return found;
}

function below(path: string, key: string | number): string {
  return `${path}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
