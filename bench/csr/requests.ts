// SPDX-License-Identifier: Apache-2.0
import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto';
import { encodePem } from '#pki/der/pem.ts';
import { encodeRequest } from '#pki/x509/encode-request.ts';
import { example } from '../../test/support/cluster/fixture.ts';

/** Names of the same lengths: the two kinds of requests differ in nothing that costs time. */
export interface Subjects {
  readonly commonNamePrefix: string;
  readonly organization: string;
}

export const SUBJECTS = {
  /** What kube-controller-manager approves by itself, once a SubjectAccessReview allows it. */
  kubelet: { commonNamePrefix: 'system:node:', organization: 'system:nodes' },
  /** Ours refuses `system:` whatever a rule says. */
  ours: { commonNamePrefix: 'sample:node:', organization: 'sample:nodes' },
} as const satisfies Record<string, Subjects>;

/** The only ones that kube-controller-manager's approver takes for a kubelet's with an EC key. */
const USAGES = ['digital signature', 'client auth'];

/** By these the bench's own requests are deleted. */
export const LABEL = 'countersign-bench';

/**
 * deploy/examples/people.yaml with one rule, which says of the requester, the names and the usages
 * what kube-controller-manager asks before it approves.
 */
export function peopleSigner(): ReturnType<typeof example> {
  const signer = example('people');
  const { commonNamePrefix, organization } = SUBJECTS.ours;
  const rule = {
    name: 'nodes',
    when: "'system:masters' in request.groups",
    allow: {
      commonName: `self.startsWith('${commonNamePrefix}')`,
      organizations: `self == '${organization}'`,
      usages: USAGES,
    },
  };
  const requests = { copy: ['commonName', 'organizations'], rules: [rule] };
  return { ...signer, spec: { ...signer.spec, requests } as typeof signer.spec };
}

/** Keys of requests, made once: everybody is asked for the same ones. */
export function newKeys(size: number): readonly KeyPairKeyObjectResult[] {
  return Array.from({ length: size }, () => generateKeyPairSync('ec', { namedCurve: 'P-256' }));
}

/** The body of a POST. */
export function csrBody(
  signerName: string,
  { commonNamePrefix, organization }: Subjects,
  { name, key }: { readonly name: string; readonly key: KeyPairKeyObjectResult },
): string {
  const der = encodeRequest({
    subject: {
      commonName: `${commonNamePrefix}${name}`,
      organizations: [organization],
      organizationalUnits: [],
    },
    sans: { dnsNames: [], ipAddresses: [], uris: [], emails: [] },
    key: key.privateKey,
  });
  return JSON.stringify({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name, labels: { [LABEL]: 'csr' } },
    spec: {
      signerName,
      request: Buffer.from(encodePem('CERTIFICATE REQUEST', der)).toString('base64'),
      usages: USAGES,
    },
  });
}
