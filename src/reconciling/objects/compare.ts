// SPDX-License-Identifier: Apache-2.0
/**
 * Whether a live object has all that is desired of it, and what it has besides. Paths are JSON pointers (RFC 6901), in
 * which an item of a list is named by its merge key where it has one: `/spec/template/spec/containers/signer/image`.
 */
import { isRecord } from './managed-object.ts';
import { isSameQuantity } from './quantity.ts';

/** Lists of objects that server-side apply merges by a key: field → key (the `listMapKey` of their types). */
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

/** The key of a port of a container or a Service. */
function portKey(item: Readonly<Record<string, unknown>>): string | undefined {
  const { containerPort, port, protocol = 'TCP' } = item;
  const number = containerPort ?? port;
  if (typeof number !== 'number' || typeof protocol !== 'string') return undefined;
  return `${number}/${protocol}`;
}

/** Quantities are written in many ways. */
const WITH_QUANTITIES = new Set(['requests', 'limits']);

/** What the API server does not store where it is the value. `false` is not among them: absent may mean true. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/**
 * Where `live` lacks what is desired: `desired` is a recursive subset of `live` if nothing is returned. What the API
 * server fills in, and what others added, is no difference.
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
  return isSame(desired, live, field) ? [] : [path];
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

/** What the API server fills in where nothing is said: field → values. */
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
};

/**
 * What `live` has besides what is desired: neither desired, nor what the API server fills in, nor empty. Only of use
 * where the whole of a field is ours.
 */
export function beyond(desired: unknown, live: unknown, path = '', field = ''): readonly string[] {
  if (isRecord(desired) && isRecord(live)) {
    return Object.keys(live).flatMap((key) =>
      beyond(desired[key], live[key], below(path, key), key),
    );
  }
  if (Array.isArray(desired) && Array.isArray(live)) return itemsBeyond(desired, live, path, field);
  return desired !== undefined || isFilledIn(live, field) ? [] : [path];
}

function isFilledIn(live: unknown, field: string): boolean {
  return isEmpty(live) || DEFAULTS[field]?.includes(live) === true;
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

/** The items by their merge key; undefined where a position is all that tells them apart. */
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
