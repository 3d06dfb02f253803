// SPDX-License-Identifier: Apache-2.0
import type { Secret } from '#api/object/object.ts';
import type { AuthorityMaterial } from '#ca/custody/contract.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { decodePemAll } from '#pki/der/pem.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import {
  NEXT_CERTIFICATE,
  NEXT_KEY,
  RETIRED_CERTIFICATE,
  RETIRED_KEY,
} from '#api/signer/rotation-annotations.ts';
import { materialOf } from '#requests/ca/usable-authority.ts';

/** A CA whose key is in a Secret. Its contents are not verified. */
export interface HeldAuthority {
  /** `sha256:<hex>` of its certificate. */
  readonly fingerprint: string;
  readonly material: AuthorityMaterial;
}

/**
 * Returns the CAs of a Secret that may have valid leaves: the one in `tls.*` and the retired ones.
 * Includes the prepared CA, so that its CRL exists before its first leaf.
 */
export function heldAuthorities(secret: Secret): readonly HeldAuthority[] {
  const { data = {} } = secret;
  const retired = Object.keys(data).flatMap((key) => {
    const id = RETIRED_CERTIFICATE.idOf(key);
    return id === undefined ? [] : [{ certificate: key, key: RETIRED_KEY.of(id) }];
  });
  const slots = [
    { certificate: 'tls.crt', key: 'tls.key' },
    { certificate: NEXT_CERTIFICATE, key: NEXT_KEY },
    ...retired,
  ];
  const held = slots
    .filter(({ certificate }) => data[certificate] !== undefined)
    .flatMap((slot) => heldIn(secret, slot));
  // An earlier CA that was activated again appears twice.
  return [...new Map(held.map((each) => [each.fingerprint, each])).values()];
}

function heldIn(
  secret: Secret,
  { certificate, key }: { readonly certificate: string; readonly key: string },
): readonly HeldAuthority[] {
  const { data = {} } = secret;
  const asTls = { 'tls.crt': data[certificate] ?? '', 'tls.key': data[key] ?? '' };
  // The anchors of a user's own CA are beside it. A managed CA that retired is its own anchor.
  const anchors = certificate === 'tls.crt' ? { 'ca.crt': data['ca.crt'] ?? '' } : {};
  const read = materialOf({ ...secret, data: { ...asTls, ...anchors } });
  // No leaf is issued here, whose verifiers need the root.
  const material = { ...read, anchorChosen: true };
  const blocks = attempt(() => decodePemAll(material.certificate, 'CERTIFICATE'));
  const [first] = blocks instanceof SignerError ? [] : blocks;
  return first === undefined ? [] : [{ fingerprint: fingerprint(first), material }];
}
