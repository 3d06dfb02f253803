// SPDX-License-Identifier: Apache-2.0
import type { Secret } from '#api/object/object.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { NEXT_ANCHOR, NEXT_CERTIFICATE, NEXT_KEY } from '#api/signer/rotation-annotations.ts';
import type { AuthorityFacts, AuthorityMaterial, OpenAuthority } from '#ca/custody/contract.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { maxSignaturesOf } from '#requests/ca/namespaced-ca-limits.ts';
import { materialFor, materialOf } from '#requests/ca/usable-authority.ts';

/** Result of reading the CA Secret. A failed read does not mean "missing". */
export type ObservedSecret =
  | { readonly kind: 'unknown'; readonly failure: string | undefined }
  | { readonly kind: 'missing' }
  | { readonly kind: 'found'; readonly secret: Secret };

/** `tls` signs or will sign, `next` is prepared. */
export type Slot = 'tls' | 'next';

/** Opens the CA in one slot of a Secret. Returns its public part or the fault. */
export type Inspect = (secret: Secret, slot: Slot) => AuthorityFacts | SignerError;

/** @param signer - the owner of the CA, which bounds the work of opening it */
export function inspectWith(open: OpenAuthority, now: number, signer: ClusterSigner): Inspect {
  const most = maxSignaturesOf(signer);
  return (secret, slot) => {
    const material = slot === 'tls' ? materialFor(secret, signer) : slotMaterial(secret, slot);
    const opened = attempt(() => open(material, now, most));
    return opened instanceof SignerError ? opened : opened.facts;
  };
}

/**
 * Returns the PEM texts of one slot of a managed CA. A prepared CA is its own anchor, unless an
 * upstream CA signed it.
 */
export function slotMaterial(secret: Secret, slot: Slot): AuthorityMaterial {
  const { data } = secret;
  const material = materialOf(slot === 'tls' ? secret : { ...secret, data: asTls(data) });
  return { ...material, anchorChosen: true };
}

function asTls(data: Secret['data'] = {}): NonNullable<Secret['data']> {
  const { [NEXT_CERTIFICATE]: certificate = '', [NEXT_KEY]: key = '' } = data;
  const { [NEXT_ANCHOR]: anchor = '' } = data;
  return { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': anchor };
}

/** Reports whether `next.*` has any content. */
export function hasNext({ data = {} }: Secret): boolean {
  return (data[NEXT_CERTIFICATE] ?? data[NEXT_KEY]) !== undefined;
}
