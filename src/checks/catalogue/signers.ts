// SPDX-License-Identifier: Apache-2.0
import type { CheckDescription } from './description.ts';

/** The signers, their CAs and bundles, and the requests that wait for them. */
export const SIGNER_CHECKS = {
  'signers-valid': {
    group: 'signers',
    title: 'every ClusterSigner has a valid spec and a signer name of its own',
    affects: 'A ClusterSigner whose spec is invalid serves no request.',
    todo: ['Correct the field that is named.', '$ kubectl edit clustersigner NAME'],
  },
  'signers-ready': {
    group: 'signers',
    title: 'every signer is Ready',
    affects: 'Requests of a signer that is not Ready wait. They are not denied.',
    todo: [
      'The condition says why:',
      '$ countersign explain signer/NAME',
      '$ countersign authority show NAME',
      'With SecretNotGranted the owner of the CA Secret has not consented, and does so by an annotation:',
      '$ kubectl annotate secret SECRET -n NAMESPACE countersign.dev/signer-name=SIGNER-NAME',
    ],
  },
  'ca-lifetime': {
    group: 'signers',
    title: 'every CA lives longer than two of its longest leaves and 30 days',
    affects:
      'A leaf never outlives its CA, so that leaves get shorter towards its end. After it nothing is signed.',
    todo: [
      'A managed CA is replaced by itself; if it is not, the condition RotationDue says why. Replace your own CA in its Secret.',
      '$ countersign authority show NAME',
    ],
  },
  'rotation-on-time': {
    group: 'signers',
    title: 'no rotation is late',
    affects: 'The CA that signs comes closer to its end while its successor waits.',
    todo: ['$ kubectl describe clustersigner NAME', '$ countersign authority show NAME'],
  },
  'bundles-equal': {
    group: 'signers',
    title: 'every bundle has the anchors of its CAs, and no other',
    affects:
      'Verifiers refuse leaves of a CA whose anchor is missing. An anchor of somebody else makes them trust that CA.',
    todo: [
      'attester puts it right within seconds; if it does not, look at its log.',
      '$ kubectl -n countersign-system logs deployment/countersign-attester',
      'An anchor of an earlier ClusterSigner of the same name stays until the leaves that it issued have expired. If you do not know it, name it in spec.authority.managed.distrusted:',
      '$ kubectl edit clustersigner NAME',
    ],
  },
  'crl-distribution-points': {
    group: 'signers',
    title: 'every signer with CRLs writes into its leaves where they are',
    affects:
      'A verifier that checks CRLs refuses a leaf whose CRL it does not have. Without spec.profile.crl.urls a leaf has no distribution point, so that no verifier can fetch the CRL: only those that were given the file accept the leaf.',
    todo: [
      'Name a URL that leads to the Service countersign-crl, or wherever you publish the CRLs. Leaves that were issued before have no distribution point until they are renewed.',
      '$ kubectl edit clustersigner NAME',
      'If all your verifiers take CRLs from files, as nginx does, nothing is wrong. Give them the files again before each nextUpdate:',
      '$ kubectl get configmap SECRET-crl -n NAMESPACE -o jsonpath="{.binaryData.FINGERPRINT\\.crl}" | base64 -d > ca.crl',
    ],
  },
  'requests-answered': {
    group: 'requests',
    title: 'no request for a certificate waits for longer than two minutes',
    affects: 'A pod that waits for its first certificate does not start.',
    todo: [
      'See what it waits for: a rule, its signer, an anchor that kubelets do not have yet, or a component.',
      '$ countersign explain pcr/NAME -n NAMESPACE',
      '$ countersign explain csr/NAME',
    ],
  },
  'requests-approved': {
    group: 'requests',
    title: 'no CertificateSigningRequest waits for a person',
    affects:
      'A request that no rule approves stays until somebody approves or denies it; Kubernetes deletes it after a day.',
    todo: [
      'See which rule is nearest, and what it does not allow. Then correct the rule or the request, or decide:',
      '$ countersign explain csr/NAME',
      '$ countersign approve csr/NAME',
      '$ countersign deny csr/NAME',
    ],
  },
} as const satisfies Readonly<Record<string, CheckDescription>>;
