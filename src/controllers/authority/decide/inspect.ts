// SPDX-License-Identifier: Apache-2.0
import type { Secret } from '../../../api/object/object.ts';
import type { ClusterSigner } from '../../../api/signer/cluster-signer.ts';
import { NEXT_CERTIFICATE, NEXT_KEY } from '../../../api/signer/rotation-annotations.ts';
import type {
  AuthorityFacts,
  AuthorityMaterial,
  OpenAuthority,
} from '../../../authorities/contract.ts';
import { SignerError, attempt } from '../../../errors.ts';
import { maxSignaturesOf } from '../../../runtime/ca/namespaced-ca-limits.ts';
import { materialOf } from '../../../runtime/ca/usable-authority.ts';

/** The result of reading the CA Secret. A failed read does not mean "missing". */
export type ObservedSecret =
  | { readonly kind: 'unknown'; readonly failure: string | undefined }
  | { readonly kind: 'missing' }
  | { readonly kind: 'found'; readonly secret: Secret };

/** `tls`: signs, or will sign; `next`: is prepared. */
export type Slot = 'tls' | 'next';

/** Opens the CA in one slot of a Secret: its public part, or what is wrong with it. */
export type Inspect = (secret: Secret, slot: Slot) => AuthorityFacts | SignerError;

/** @param signer - whose CA it is: what opening that of a namespace may take is bounded */
export function inspectWith(open: OpenAuthority, now: number, signer: ClusterSigner): Inspect {
  const most = maxSignaturesOf(signer);
  return (secret, slot) => {
    const opened = attempt(() => open(slotMaterial(secret, slot), now, most));
    return opened instanceof SignerError ? opened : opened.facts;
  };
}

/** The PEM texts of one slot. A prepared CA is its own anchor. */
export function slotMaterial(secret: Secret, slot: Slot): AuthorityMaterial {
  return slot === 'tls' ? materialOf(secret) : materialOf({ ...secret, data: asTls(secret.data) });
}

function asTls(data: Secret['data'] = {}): NonNullable<Secret['data']> {
  const { [NEXT_CERTIFICATE]: certificate = '', [NEXT_KEY]: key = '' } = data;
  return { 'tls.crt': certificate, 'tls.key': key };
}

/** Whether `next.*` has any content. */
export function hasNext({ data = {} }: Secret): boolean {
  return (data[NEXT_CERTIFICATE] ?? data[NEXT_KEY]) !== undefined;
}
