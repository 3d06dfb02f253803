// SPDX-License-Identifier: Apache-2.0
/** A hub's signer, and the request of a member for its CA. */
import type { ClusterSigner, IntermediateRule } from '#api/signer/cluster-signer.ts';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import { readClusterSigner } from '#api/signer/read-signer.ts';
import {
  basicConstraints,
  encodeExtension,
  keyUsage,
  type Extension,
} from '#pki/extensions/encode-extensions.ts';
import type { KeyUsageBit } from '#pki/extensions/usages.ts';
import { CN, O, csrOf, made, type Wanted } from '../../ca/policy/request.ts';

export const HUB = 'fleet.example.com/members';
export const MEMBER = 'system:serviceaccount:countersign-fleet:prod';

/** Each ServiceAccount of countersign-fleet may have the CA of the cluster of its name. */
export const OWN_CLUSTER: IntermediateRule = {
  name: 'own-cluster',
  when: "request.username == 'system:serviceaccount:countersign-fleet:' + cluster",
  trustDomain: "cluster + '.fleet.example.com'",
  uriConstraint: 'TrustDomain',
  usages: ['cert sign', 'crl sign'],
};

/** A hub's signer: intermediates of 30 days below a CA of a year. */
export function hubSigner(
  rules: readonly Partial<IntermediateRule>[] = [{}],
  more: Readonly<Record<string, unknown>> = {},
): ClusterSigner {
  return readClusterSigner({
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'ClusterSigner',
    metadata: {
      name: 'members',
      uid: 'uid-members',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-11-21T06:00:00Z',
    },
    spec: {
      signerName: HUB,
      authority: {
        managed: {
          secret: { namespace: 'countersign-keys', name: 'members-ca' },
          commonName: 'Fleet CA',
        },
      },
      profile: { maxDuration: '720h' },
      intermediates: { rules: rules.map((rule) => ({ ...OWN_CLUSTER, ...rule })) },
      ...more,
    },
  });
}

/** Parts of a member's request; `extensions` replaces both of its extensions. */
export interface MemberWanted extends Omit<Wanted, 'extensions'> {
  readonly cluster?: string;
  readonly pathLen?: number | undefined;
  readonly bits?: readonly KeyUsageBit[];
  readonly extensions?: readonly Extension[];
}

/** The request of cluster prod for its CA, as a member writes it. */
export function memberCsr(wanted: MemberWanted = {}): CertificateSigningRequest {
  const { cluster = 'prod', bits = ['keyCertSign', 'cRLSign'], extensions, ...rest } = wanted;
  const pathLen = 'pathLen' in wanted ? wanted.pathLen : 0;
  const constraints = basicConstraints({
    ca: true,
    ...(pathLen === undefined ? {} : { pathLen }),
  });
  const { csr } = made({
    subject: [
      [O, cluster],
      [CN, 'Prod CA 1795759200'],
    ],
    usages: ['cert sign', 'crl sign'],
    username: MEMBER,
    groups: ['system:serviceaccounts', 'system:authenticated'],
    ...rest,
    extensions: (extensions ?? [keyUsage(bits), constraints]).map(encodeExtension),
  });
  return { ...csr, spec: { ...csr.spec, signerName: HUB } };
}

/** The request of cluster prod around a PKCS#10 request in PEM. */
export function memberRequest(pem: string): CertificateSigningRequest {
  const csr = csrOf(pem, { usages: ['cert sign', 'crl sign'], username: MEMBER });
  return { ...csr, spec: { ...csr.spec, signerName: HUB } };
}
