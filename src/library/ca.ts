// SPDX-License-Identifier: Apache-2.0
import { openLocalAuthority } from '#ca/custody/local.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import { encodePem } from '#pki/der/pem.ts';
import { random } from '#app/process.ts';
import type { Context } from './issuer.ts';
import { attachLeaf } from './signing/local-leaf.ts';
import type { SignedCertificate, SigningRequest } from './request.ts';
import { wantedOf } from './signing/signing-request.ts';
import * as messages from './messages.ts';

/** The PEM files of a CA. */
export interface CaMaterial {
  /** PEM: the CA's certificate, then its issuers, if any. */
  readonly certificate: string;
  /** PEM, unencrypted: PKCS#8, SEC 1 or PKCS#1. */
  readonly key: string;
  /** PEM of the trust anchors. Required if `certificate` does not end in a root. */
  readonly anchors?: string;
}

/** A CA whose key this process holds. Returned by {@link openCa}. */
export interface Ca {
  /**
   * Creates the leaf for a request, lints it, and signs it. Cuts its validity to that of the CA.
   *
   * @param request - the object that `sign` was called with, not a copy
   * @throws SignerError if the leaf would violate RFC 5280, or the CA has expired, or TypeError for
   *   another object
   */
  readonly sign: (
    request: SigningRequest,
    ctx: Pick<Context, 'signal'>,
  ) => Promise<SignedCertificate>;
}

/**
 * Opens a CA whose key is available. Checks that the certificate is a CA certificate and valid now,
 * that key and certificate match, and that the chain ends in an anchor. Keep the result: opening
 * costs as much as a hundred signatures.
 *
 * @param material - PEM texts
 * @param ctx - for `now`, the API server's time
 * @throws SignerError AUTHORITY_INVALID, AUTHORITY_EXPIRED, ANCHOR_MISSING or KEY_ENCRYPTED
 */
export function openCa(material: CaMaterial, ctx: Pick<Context, 'now'>): Ca {
  const authority = openLocalAuthority({ anchors: undefined, ...material }, ctx.now());
  const { facts } = authority;
  const pem = (raw: Uint8Array): string => encodePem('CERTIFICATE', raw);
  const above = facts.intermediates.map(({ raw }) => pem(raw)).join('');
  const anchors = facts.anchors.map(({ raw }) => pem(raw)).join('');
  return {
    sign: async (request, { signal }) => {
      const wanted = wantedOf(request);
      if (wanted === undefined) throw new TypeError(messages.COPIED_REQUEST);
      const validity = {
        notBefore: Math.max(wanted.validity.notBefore, facts.notBefore),
        notAfter: Math.min(wanted.validity.notAfter, facts.notAfter),
      };
      const prepared = prepare({ ...wanted, validity, issuer: facts, random });
      // The check that the chain allows this leaf runs for every CA, when its answer is accepted.
      const der = await authority.sign(prepared, signal);
      return attachLeaf({ chain: pem(der) + above, anchors }, prepared.decode(der), wanted);
    },
  };
}
