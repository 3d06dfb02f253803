// SPDX-License-Identifier: Apache-2.0
import { UNKNOWN_ANCHOR_ADVICE } from '#api/signer/unknown-anchor.ts';
import type { CheckDescription } from './description.ts';

/** The signers, their CAs and bundles, and the requests that wait for them. */
export const SIGNER_CHECKS = {
  'signers-valid': {
    group: 'signers',
    title: 'every ClusterSigner has a valid spec and a signer name of its own',
    impact: 'A ClusterSigner whose spec is invalid serves no request.',
    remediation: ['Correct the field that is named.', '$ kubectl edit clustersigner NAME'],
  },
  'signers-ready': {
    group: 'signers',
    title: 'every signer is Ready and signs',
    impact: 'Requests of a signer that is not Ready wait. They are not denied.',
    remediation: [
      'The condition says why:',
      '$ countersign explain signer/NAME',
      '$ countersign authority show NAME',
      'A finding that begins with "no component signs" ends by itself at the time that it names. Before that time, a verifier that has not loaded the anchor would reject the leaves.',
      'With SecretNotGranted the owner of the CA Secret has not consented, and does so by an annotation:',
      '$ kubectl annotate secret SECRET -n NAMESPACE countersign.dev/signer-name=SIGNER-NAME',
    ],
  },
  'ca-usable': {
    group: 'signers',
    title: 'the Secret of every CA is usable',
    impact:
      'While the Secret exists, components sign with the CA that they read before. A component that restarts has no CA, and its requests wait. After the deletion of the Secret, every component drops the key. Then no component signs until authority has created a new CA, and its anchor has been published for the propagation time of ten minutes. Issued certificates stay valid. authority cannot sign the CRL of the lost CA again: that CRL expires at its nextUpdate.',
    remediation: [
      'Do not delete the Secret of a CA that signs. For a CA of your own, write the Secret again from your backup. If tls.crt has no root, use the command below that also writes ca.crt. If the Secret was deleted, its owner must also consent again: signers-ready has the command.',
      '$ kubectl -n countersign-keys create secret tls SECRET --cert=ca.crt --key=ca.key --dry-run=client -o yaml | kubectl apply --server-side --force-conflicts -f -',
      'For a managed CA without upstream, no action is needed: authority creates a new CA, in the same Secret or in a new one. The new CA signs at the time that the finding names. With upstream, authority requests a certificate, and the CA signs once the upstream CA has issued it.',
      'To sign sooner, write certificate and key of the lost CA back from a backup. It signs at once if its anchor has been published for the propagation time:',
      '$ kubectl -n countersign-keys create secret generic SECRET --type=kubernetes.io/tls --from-file=tls.crt=ca.crt --from-file=tls.key=ca.key --from-file=ca.crt --dry-run=client -o yaml | kubectl apply --server-side --force-conflicts -f -',
      'Without a backup, you can let the new CA sign before every verifier has its anchor. Until the time that the finding names, a verifier that has not loaded the anchor rejects the new leaves. FINGERPRINT is that of the new CA, with the prefix sha256:',
      '$ kubectl -n countersign-keys annotate --overwrite secret SECRET countersign.dev/signs-at-once=FINGERPRINT',
      'authority writes a Secret only if it created the Secret for this signer, and if the Secret is not immutable. If it cannot write yours (condition Degraded), delete the Secret. Then no component signs for the propagation time:',
      '$ kubectl -n countersign-keys delete secret SECRET',
    ],
  },
  'ca-lifetime': {
    group: 'signers',
    title: 'every CA lives longer than two of its longest leaves and 30 days',
    impact:
      'A leaf never outlives its CA, so that leaves get shorter towards its end. After it nothing is signed.',
    remediation: [
      'A managed CA is replaced by itself; if it is not, the condition RotationDue says why. Replace your own CA in its Secret.',
      '$ countersign authority show NAME',
    ],
  },
  'anchors-accepted': {
    group: 'signers',
    title: 'every verifier accepts the anchors of every CA',
    impact:
      'Go, GnuTLS and Java accept an intermediate as an anchor. OpenSSL, Node and Python before 3.13 reject every certificate below it, so that a part of the clients fails. Python 3.13 rejects CAs that lack an extension which RFC 5280 requires.',
    remediation: [
      'The finding names the certificate, the rule, and the verifiers. docs/reference/verifiers.md has the rules. Write the root to ca.crt:',
      '$ kubectl -n countersign-keys patch secret SECRET -p "{\\"data\\":{\\"ca.crt\\":\\"$(base64 -w0 root.crt)\\"}}"',
    ],
  },
  'rotation-on-time': {
    group: 'signers',
    title: 'no rotation is late',
    impact: 'The CA that signs comes closer to its end while its successor waits.',
    remediation: ['$ kubectl describe clustersigner NAME', '$ countersign authority show NAME'],
  },
  'bundles-equal': {
    group: 'signers',
    title: 'every bundle has the anchors of its CAs, and no other',
    impact:
      'Verifiers refuse leaves of a CA whose anchor is missing. An unexpected anchor makes them trust another CA.',
    remediation: [
      'attester puts it right within seconds; if it does not, look at its log.',
      '$ kubectl -n countersign-system logs deployment/countersign-attester',
      `An anchor of an earlier ClusterSigner of the same name stays until the leaves that it issued have expired. ${UNKNOWN_ANCHOR_ADVICE}.`,
      '$ kubectl edit clustersigner NAME',
    ],
  },
  'leaves-trusted': {
    group: 'signers',
    title: 'no pod is known to hold a leaf that verifiers reject',
    impact:
      'Verifiers reject a leaf whose CA left the published bundle, and those that check CRLs reject a revoked leaf once they have a CRL that lists it. The connections of these pods fail.',
    remediation: [
      'Replace the pods. For a distrusted CA, this evicts them within their disruption budgets:',
      '$ countersign authority taint NAME FINGERPRINT --restart',
      'For a revoked leaf, delete the pod. Its controller creates another pod, which gets a new leaf. If the pod has no controller, create it again yourself:',
      '$ kubectl -n NAMESPACE delete pod POD',
      'What is known: a PodCertificateRequest shows the leaf of its pod for 15 minutes. After that the start of the pod decides: a pod that ran before the CA stopped signing may hold a leaf of it, until the last of those leaves ends. The leaf of any other pod is unknown, and is never called trusted. A ledger knows it:',
      '$ countersign ledger search --pod NAMESPACE/POD',
    ],
  },
  'services-select': {
    group: 'signers',
    title: 'a Service selects every pod whose leaf has names of Services',
    impact:
      'Without such a Service the leaf has no DNS name, where spec.pods.services.required is false. Clients that verify the name of the Service reject it.',
    remediation: [
      'Compare the selectors of the Services with the labels of the pods, and correct the one that is wrong:',
      '$ kubectl -n NAMESPACE get services -o wide',
      '$ kubectl -n NAMESPACE get pods --show-labels',
      'The next leaf of a pod has the names. Delete the pod to get it now:',
      '$ kubectl -n NAMESPACE delete pod POD',
    ],
  },
  'crl-distribution-points': {
    group: 'signers',
    title: 'every signer with CRLs writes into its leaves where they are',
    impact:
      'A verifier that checks CRLs refuses a leaf whose CRL it does not have. Without spec.profile.crl.urls a leaf has no distribution point, so that no verifier can fetch the CRL: only those that were given the file accept the leaf.',
    remediation: [
      'Name a URL that leads to the Service countersign-crl, or wherever you publish the CRLs. Leaves that were issued before have no distribution point until they are renewed.',
      '$ kubectl edit clustersigner NAME',
      'If all your verifiers take CRLs from files, as nginx does, nothing is wrong. Give them the files again before each nextUpdate:',
      '$ kubectl get configmap SECRET-crl -n NAMESPACE -o jsonpath="{.binaryData.FINGERPRINT\\.crl}" | base64 -d > ca.crl',
    ],
  },
  'crls-signed': {
    group: 'signers',
    title: 'authority can sign the CRL of every CA with leaves',
    impact:
      'No CRL lists a certificate of this CA that you revoke from now on, so verifiers accept it. After the nextUpdate of the last CRL, verifiers that check CRLs reject every leaf of this CA.',
    remediation: [
      'The finding names the CA and the cause. If the key of a CA is gone, write certificate and key back into its Secret, in base64, as retired-ID.crt and retired-ID.key. ID is the first 16 digits of the fingerprint:',
      '$ kubectl -n countersign-keys edit secret SECRET',
      'If the CA was replaced before it signed a leaf, no action is needed: the finding ends when the CA leaves the bundle. Without the key, renew the leaves of the CA: replace the pods that hold one. Verifiers accept a revoked leaf that no CRL lists, as long as they trust its CA. If such a leaf was stolen, distrust the CA:',
      '$ countersign authority taint NAME FINGERPRINT --restart',
    ],
  },
  'revocations-listed': {
    group: 'signers',
    title: 'every Revocation of a signer with profile.crl is on a CRL',
    impact:
      'Verifiers accept a revoked certificate that no CRL lists. The holders in the Revocation still get no new certificate.',
    remediation: [
      'The condition Listed has the cause. The reason CrlNotSigned means that authority cannot sign the CRL: do what crls-signed describes. The reason AuthorityUnknown means that the signer does not have the key of the CA that issued the certificate:',
      '$ kubectl describe revocation NAME',
      'If the Revocation names the wrong CA, create another one with the right fingerprint. Otherwise restore the key, as crls-signed describes. If you have no copy of the key, and the certificate was stolen, distrust its CA:',
      '$ countersign authority taint NAME FINGERPRINT --restart',
    ],
  },
  'pods-requested': {
    group: 'requests',
    title: 'the kubelet of every pod has requested its certificates',
    impact: 'The pod does not start: its volume is not mounted.',
    remediation: [
      'The line says what the kubelet met: a ResourceQuota or an admission webhook refuses its request, or the kubelet does not know podCertificate volumes.',
      '$ countersign explain pod/NAME -n NAMESPACE',
      'A ResourceQuota counts PodCertificateRequests for 15 minutes after their end. Allow as many as pods start in that time:',
      '$ kubectl -n NAMESPACE get resourcequotas',
    ],
  },
  'requests-granted': {
    group: 'requests',
    title: 'no request of a pod was denied or failed',
    impact:
      'The kubelet does not repeat such a request. A new pod does not start. A running pod keeps its certificate, which the kubelet does not renew.',
    remediation: [
      'Read why it was denied or failed, and correct the pod or the signer:',
      '$ countersign explain pod/NAME -n NAMESPACE',
      'Then delete the pod. Its controller creates another pod, and the kubelet requests a certificate for it:',
      '$ kubectl -n NAMESPACE delete pod NAME',
      'Kubernetes deletes a denied or failed request after 15 minutes. After that, pods-requested reports a pod that does not start.',
    ],
  },
  'annotations-known': {
    group: 'requests',
    title: 'every countersign.dev annotation in the namespaces that opted in is known and readable',
    impact:
      'No component reads an annotation with another name, in another place or with a value that it does not know: the pod gets no certificate, or is not restarted. The API server rejects a pod that names an injection profile that does not exist.',
    remediation: [
      'People write inject and evict-before-expiry into the pod template, and refresh, refresh-by and refresh-window on the workload itself. The line has the command that gives the annotation its name, its place or its profile. This one takes it away:',
      '$ kubectl -n NAMESPACE annotate deployment NAME countersign.dev/WRONG-',
    ],
  },
  'requests-answered': {
    group: 'requests',
    title: 'no request for a certificate waits for longer than two minutes',
    impact:
      'A pod that waits for its first certificate does not start. A Certificate of cert-manager keeps its old certificate until that expires. Requests of ACME signers are in acme-orders-progress.',
    remediation: [
      'See what it waits for: a rule, its signer, an anchor that kubelets do not have yet, or a component.',
      '$ countersign explain pcr/NAME -n NAMESPACE',
      '$ countersign explain csr/NAME',
      '$ countersign explain certificaterequest/NAME -n NAMESPACE',
    ],
  },
  'requests-valid': {
    group: 'requests',
    title: 'no CertificateSigningRequest waits that its signer would fail',
    impact:
      'The request never gets a certificate, whether a person approves it or not: its spec, its signer or both have to change. The newest 50 pending requests are judged, as the signer judges them.',
    remediation: [
      'See all that is wrong with it, create a corrected request, and close this one:',
      '$ countersign explain csr/NAME',
      '$ countersign deny csr/NAME',
    ],
  },
  'requests-approved': {
    group: 'requests',
    title: 'no CertificateSigningRequest waits for a person',
    impact:
      'A request that no rule approves stays until a person approves or denies it; Kubernetes deletes it after a day.',
    remediation: [
      'See which rule is nearest, and what it does not allow. Then correct the rule or the request, or decide:',
      '$ countersign explain csr/NAME',
      '$ countersign approve csr/NAME',
      '$ countersign deny csr/NAME',
    ],
  },
} as const satisfies Readonly<Record<string, CheckDescription>>;
