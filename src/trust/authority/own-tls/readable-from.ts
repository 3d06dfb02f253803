// SPDX-License-Identifier: Apache-2.0
import { signsAtOnce } from '#api/signer/grant.ts';
import type { Secret } from '#api/object/object.ts';
import type { Authority } from '#ca/custody/contract.ts';
import { SignerError } from '#base/errors.ts';
import { signsFrom } from '#ca/rotation/signs-from.ts';
import { isFilledFor, servedByConfigMap, type ConfigMapLook } from './decide-bundle.ts';

export interface ReadableFromInput {
  /** The CA that may sign now, or the error. */
  readonly authority: Authority | SignerError;
  /** Secret of the CA. */
  readonly secret: Secret | undefined;
  readonly configMap: ConfigMapLook;
  readonly signerName: string;
  readonly propagationSeconds: number;
  readonly now: number;
}

/**
 * Returns when readers of the ConfigMap have the CA's anchor. Repeats the propagation gate of the
 * bundle, since the ConfigMap may have been out of our reach for longer than the bundle. Without a
 * ConfigMap that we fill in, there is no reader to wait for.
 *
 * @returns milliseconds, or undefined while the anchor is not in the ConfigMap
 */
export function readableFrom(input: ReadableFromInput): number | undefined {
  const { authority, secret, configMap, signerName, propagationSeconds, now } = input;
  if (configMap.kind === 'unknown' || authority instanceof SignerError) return undefined;
  if (configMap.kind === 'missing' || !isFilledFor(configMap.configMap, signerName)) {
    return Number.NEGATIVE_INFINITY;
  }
  const { facts } = authority;
  const atOnce = secret !== undefined && signsAtOnce(secret, facts.fingerprint);
  const gate = { ...servedByConfigMap(configMap.configMap), propagationSeconds, atOnce };
  return signsFrom(facts, gate, now);
}
