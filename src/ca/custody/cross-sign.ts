// SPDX-License-Identifier: Apache-2.0
import { correspond } from '../issuance/correspond.ts';
import { mayCertifyCas } from '../issuance/cross-certificate.ts';
import { prepareCross } from '../issuance/prepare.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';
import { encodePem } from '#pki/der/pem.ts';
import type { Random } from '#base/ports.ts';
import type { CrossSign } from './contract.ts';
import { openLocalAuthority } from './local.ts';

/** A signal for signing with a key in memory, which does not wait and cannot be aborted. */
const NEVER_ABORTED = new AbortController().signal;

/**
 * Creates the function that certifies the key of a new CA by the previous CA. A cross-certificate
 * takes the path of a leaf: prepared, linted, signed once, compared with the prepared one,
 * verified.
 *
 * @param random - source of the serial number
 */
export function createCrossSign(random: Random): CrossSign {
  return async ({ old, next, now }) => {
    const authority = openLocalAuthority(old, now);
    const { facts: issuer } = authority;
    const { certificate: of } = openLocalAuthority(next, now).facts;
    if (!mayCertifyCas(issuer.certificate) || of.notBefore >= issuer.notAfter) return undefined;
    const prepared = prepareCross({ of, issuer, random });
    const cross = decodeCertificate(await authority.sign(prepared, NEVER_ABORTED));
    const { certificate } = issuer;
    const chain = { certificate, intermediates: [], anchors: [certificate] };
    correspond(prepared, { leaf: cross, ...chain }, now);
    return [cross, certificate].map(({ raw }) => encodePem('CERTIFICATE', raw)).join('');
  };
}
