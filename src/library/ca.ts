// SPDX-License-Identifier: Apache-2.0
import { openLocalAuthority } from '../authorities/local.ts';
import { prepare } from '../issuance/prepare.ts';
import { encodePem } from '../pki/der/pem.ts';
import { random } from '../app/system-random.ts';
import type { Context } from './issuer.ts';
import { attachLeaf } from './signing/local-leaf.ts';
import type { Signed, SigningRequest } from './request.ts';
import { wantedOf } from './signing/signing-request.ts';

/** A CA as files hold it. */
export interface CaMaterial {
  /** PEM: the CA's certificate, then its issuers, if any. */
  readonly certificate: string;
  /** PEM, unencrypted: PKCS#8, SEC 1 or PKCS#1. */
  readonly key: string;
  /** PEM of the roots; needed where `certificate` does not end in one. */
  readonly anchors?: string;
}

/** A CA whose key this process holds: it writes what was asked for, lints it, and signs it. */
export interface Ca {
  /**
   * A chain for a request that `sign` was called with.
   *
   * @throws SignerError where the CA is not valid for that long, or the leaf would break RFC 5280
   */
  readonly sign: (request: SigningRequest, ctx: Pick<Context, 'signal'>) => Promise<Signed>;
}

/**
 * Opens a CA. Everything is checked, once: that it is a CA, valid now, that key and certificate belong
 * together, and that its chain ends in an anchor. Keep what it returns: opening costs as much as a
 * hundred signatures.
 *
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
      if (wanted === undefined) throw new TypeError('sign a request as sign() was called with it');
      const validity = {
        notBefore: Math.max(wanted.validity.notBefore, facts.notBefore),
        notAfter: Math.min(wanted.validity.notAfter, facts.notAfter),
      };
      const prepared = prepare({ ...wanted, validity, issuer: facts, random });
      // Whether its chain allows this leaf is asked of every CA's answer, when it is accepted.
      const der = await authority.sign(prepared, signal);
      return attachLeaf({ chain: pem(der) + above, anchors }, prepared.decode(der), wanted);
    },
  };
}
