// SPDX-License-Identifier: Apache-2.0
import { signsAtOnce } from '../../../api/signer/grant.ts';
import type { Secret } from '../../../api/object/object.ts';
import type { Authority } from '../../../authorities/contract.ts';
import { SignerError } from '../../../errors.ts';
import { signsFrom } from '../../../rotation/signs-from.ts';
import { isFilledFor, servedByConfigMap, type ConfigMapLook } from './decide-bundle.ts';

export interface ReadableFromInput {
  /** The CA that may sign now, or why none may. */
  readonly authority: Authority | SignerError;
  /** Of the CA. */
  readonly secret: Secret | undefined;
  readonly configMap: ConfigMapLook;
  readonly signerName: string;
  readonly propagationSeconds: number;
  readonly now: number;
}

/**
 * When the readers of the ConfigMap have the CA's anchor. This is the propagation gate of the bundle a second
 * time, since a ConfigMap may have been out of our reach for longer than the bundle. Without a ConfigMap of
 * ours, there is no reader to wait for.
 *
 * @returns milliseconds; undefined while the anchor is not in the ConfigMap
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
