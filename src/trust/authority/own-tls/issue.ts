// SPDX-License-Identifier: Apache-2.0
import type { Authority } from '#ca/custody/contract.ts';
import { correspond } from '#ca/issuance/correspond.ts';
import { EMPTY_SUBJECT } from '#ca/issuance/leaf-subject.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import { leafValidity } from '#ca/issuance/validity.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';
import { decodePublicKey } from '#pki/keys/public-key.ts';
import { encodePem } from '#pki/der/pem.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import type { Random } from '#base/ports.ts';
import type { DesiredLeaf } from '#ca/rotation/leaf-renewal.ts';
import type { KeyUsage } from '#base/vocabulary.ts';

/** The usages of a server certificate. None of our components presents it as a client. */
export const SERVING_USAGES = ['digital signature', 'server auth'] as const satisfies KeyUsage[];

export interface NewLeaf {
  /** PEM: the leaf, then its issuers, without the root. */
  readonly certificate: string;
  /** PKCS#8, PEM. */
  readonly key: string;
}

/** Minimum lifetime. A shorter one means that the CA is misconfigured. */
const MIN_SERVING_SECONDS = 600;

/** A started signature is completed, even while the process stops. */
const NEVER = new AbortController().signal;

/**
 * Makes a new key and its certificate, which is signed and checked like every other leaf.
 *
 * @param now - milliseconds
 * @throws SignerError VALIDITY_IMPOSSIBLE, PATH_INVALID, … (`authority`)
 */
export async function issueLeaf(
  authority: Authority,
  desired: DesiredLeaf,
  { random, now }: { readonly random: Random; readonly now: number },
): Promise<NewLeaf> {
  const { facts } = authority;
  const { durationSeconds: lifetimeSeconds, backdateSeconds } = desired;
  const minimumSeconds = Math.min(MIN_SERVING_SECONDS, lifetimeSeconds);
  const { pem, spki } = await generatePrivateKey(desired.keyType);
  const prepared = prepare({
    issuer: facts,
    validity: leafValidity({
      now,
      lifetimeSeconds,
      backdateSeconds,
      minimumSeconds,
      issuer: facts,
    }),
    subject: { ...EMPTY_SUBJECT, dnsNames: desired.dnsNames },
    publicKey: decodePublicKey(spki),
    usages: SERVING_USAGES,
    random,
  });
  prepared.requirePath(facts, now);
  const leaf = decodeCertificate(await authority.sign(prepared, NEVER));
  correspond(prepared, { leaf, ...facts }, now);
  const chain = [leaf, ...facts.intermediates].map(({ raw }) => encodePem('CERTIFICATE', raw));
  return { certificate: chain.join(''), key: pem };
}
