// SPDX-License-Identifier: Apache-2.0
/** The CA of a member, requested and signed as a hub signs it. */
import type { IntermediateRule } from '#api/signer/cluster-signer.ts';
import { createCaRequest } from '#ca/custody/managed.ts';
import { encodeIntermediateTbs } from '#ca/issuance/intermediate.ts';
import { prepareIntermediate } from '#ca/issuance/prepare.ts';
import { compileIntermediates } from '#ca/policy/intermediates.ts';
import { encodePem } from '#pki/der/pem.ts';
import { decideIntermediate } from '#requests/signer/decide-intermediate.ts';
import { hubSigner, memberRequest } from '../requests/intermediate.ts';
import type { Hub } from './hub.ts';
import { NOW, random } from './issuing.ts';

/** @param rule - parts of the rule of the hub */
export async function signedMember(
  hub: Hub,
  rule: Partial<IntermediateRule>,
): Promise<{ readonly chain: string; readonly key: string }> {
  const { facts } = hub.authority;
  const wanted = { keyType: 'ECDSAP256', commonName: 'Prod CA', crossSigned: false } as const;
  const { key, request } = await createCaRequest({ ...wanted, cluster: 'prod', now: NOW });
  const plan = decideIntermediate({
    csr: {
      ...memberRequest(request),
      status: { conditions: [{ type: 'Approved', status: 'True' }] },
    },
    policy: compileIntermediates(hubSigner([rule]).spec),
    authority: facts,
    reservedPrefixes: [],
    now: NOW,
  });
  if (plan.kind !== 'issue' || plan.intermediate === undefined)
    throw new Error(JSON.stringify(plan));
  const { intermediate, publicKey, usages, validity } = plan;
  const input = { ...intermediate, publicKey, usages, validity, issuer: facts, random };
  const prepared = prepareIntermediate(encodeIntermediateTbs(input), facts);
  const der = await hub.authority.sign(prepared, new AbortController().signal);
  return { chain: encodePem('CERTIFICATE', der), key };
}
