// SPDX-License-Identifier: Apache-2.0
import type { ConfigMap, ObjectMeta } from '#api/object/object.ts';
import { SIGNER_NAME } from '#api/signer/grant.ts';
import { identityOf } from '#component/signers/signer-quota.ts';
import { FIELD_MANAGER } from './act.ts';
import { lastWrite } from './contested-targets.ts';
import { UNKEPT_VALUE } from './unkept-value.ts';

/** The longest annotation that is kept. A signer name has at most 571 characters. */
const MAX_OWNER_LENGTH = 1024;
/** Exceeds the keys of a ConfigMap of ours: one for each Signer of a namespace. */
const MAX_REDUCED_KEYS = 33;

/** The contents of a ConfigMap to keep. */
export interface KeptContents {
  /** Reports whether the value of a key is needed. */
  readonly isNeeded: (key: string) => boolean;
  /** The longest value, in characters. {@link UNKEPT_VALUE} replaces a longer one. */
  readonly maxText: number;
}

/**
 * Reduces a ConfigMap to what decisions read, because users of all namespaces write ConfigMaps of
 * our names, with a megabyte each. One without our annotation keeps its identity only.
 */
export function reduceConfigMap(
  { apiVersion, kind, metadata, data = {}, binaryData = {}, immutable = false }: ConfigMap,
  kept: KeptContents,
): ConfigMap {
  const identity = identityOf(metadata);
  const owner = metadata.annotations?.[SIGNER_NAME];
  if (owner === undefined || owner.length > MAX_OWNER_LENGTH) {
    return { apiVersion, kind, metadata: identity };
  }
  return {
    apiVersion,
    kind,
    metadata: { ...identity, annotations: { [SIGNER_NAME]: owner }, ...otherWriters(metadata) },
    data: reduced(data, kept),
    binaryData: reduced(binaryData, kept),
    ...(immutable ? { immutable } : {}),
  };
}

/** Returns the owners, and the newest write of another client, which the log names. */
function otherWriters(metadata: ObjectMeta): object {
  const write = lastWrite(metadata.managedFields, 'data', FIELD_MANAGER);
  const owners = 'ownerReferences' in metadata ? metadata.ownerReferences : undefined;
  return {
    ...(Array.isArray(owners) ? { ownerReferences: owners.slice(0, MAX_REDUCED_KEYS) } : {}),
    ...(write === undefined ? {} : { managedFields: [{ ...write, fieldsV1: { 'f:data': {} } }] }),
  };
}

/** Keeps the needed values, and the names of the other keys, which are drift. */
function reduced(
  data: Readonly<Record<string, string>>,
  { isNeeded, maxText }: KeptContents,
): Readonly<Record<string, string>> {
  const entries = Object.entries(data).map(([key, value]) => {
    const kept = value.length <= maxText ? value : UNKEPT_VALUE;
    return [key, isNeeded(key) ? kept : ''] as const;
  });
  const first = entries.filter(([key]) => isNeeded(key));
  const others = entries.filter(([key]) => !isNeeded(key));
  return Object.fromEntries([...first, ...others].slice(0, MAX_REDUCED_KEYS));
}
