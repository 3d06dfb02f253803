// SPDX-License-Identifier: Apache-2.0
/**
 * What a component that was taken over tries with its own token, and must not get: a row a sentence
 * of SECURITY.md. Every object that a row names exists, so that nothing is refused for being
 * absent.
 */
import { BY_ACME, BY_RESPONDER, BY_SOLVER } from './acme-attempts.ts';
import { FORGED, FORGED_BESIDE } from './event-attempts.ts';
import { BY_FEDERATION } from './federation-attempts.ts';
import { writeForeignLease } from './foreign-lease.ts';
import { HELD } from './held-attempts.ts';
import { ON_PODS, ON_RECORDS } from './pod-attempts.ts';
import { WORKLOAD_ATTEMPTS } from './refresh-attempts.ts';
import { BY_TRUST_DISTRIBUTOR } from './trust-attempts.ts';

/** One call of the API, as `kubectl --raw` makes it; a patch is a merge patch. */
export interface Call {
  readonly verb: 'get' | 'create' | 'replace' | 'patch' | 'delete';
  readonly path: string;
  /** The body of a create; of a replace, what is laid over the object that is there. */
  readonly body?: Readonly<Record<string, unknown>>;
}

export interface Attempt {
  readonly component: string;
  /** As SECURITY.md has it: `approver` cannot … */
  readonly cannot: string;
  readonly call: Call;
}

export const KEYS = 'countersign-keys';
export const SYSTEM = 'countersign-system';
/** A signer, a bundle and a Secret that are none of the installation's. */
export const FOREIGN = 'foreign.example/x';
export const FOREIGN_BUNDLE = 'foreign.example:x:primary';
export const FOREIGN_SECRET = 'another-ca';

const CERTIFICATES = '/apis/certificates.k8s.io/v1';
const CERT_MANAGER = `/apis/cert-manager.io/v1/namespaces/${SYSTEM}/certificaterequests`;
const SECRETS = `/api/v1/namespaces/${KEYS}/secrets`;
const BUNDLES = `${CERTIFICATES}/clustertrustbundles`;
const SIGNERS = '/apis/countersign.dev/v1alpha1/clustersigners';

const csr = (name: string, part: 'status' | 'approval'): string =>
  `${CERTIFICATES}/certificatesigningrequests/${name}/${part}`;
const pcr = (name: string): string =>
  `${CERTIFICATES}/namespaces/${SYSTEM}/podcertificaterequests/${name}/status`;
const WHEN = { lastTransitionTime: '2026-01-01T00:00:00Z' };
const said = { status: 'True', reason: 'Attack', message: 'x', ...WHEN };
const APPROVED = [{ type: 'Approved', ...said }];
const FAILED = [{ type: 'Failed', ...said }];

const readOwnCa: Call = { verb: 'get', path: `${SECRETS}/workload-ca` };
const readForeignSecret: Call = { verb: 'get', path: `${SECRETS}/${FOREIGN_SECRET}` };
const listSecrets: Call = { verb: 'get', path: SECRETS };
const approve: Call = {
  verb: 'replace',
  path: csr('ours', 'approval'),
  body: { status: { conditions: APPROVED } },
};
const answerCsr: Call = {
  verb: 'replace',
  path: csr('ours', 'status'),
  body: { status: { conditions: FAILED } },
};
const answerForeignCsr: Call = { ...answerCsr, path: csr('foreign', 'status') };
const writeRequest = (name: string, status: object): Call => ({
  verb: 'replace',
  path: `${CERT_MANAGER}/${name}/status`,
  body: { status },
});
const answerForeignRequest = writeRequest('foreign', { ca: 'YQ==' });
const approveRequest = (name: string): Call => writeRequest(name, { conditions: APPROVED });
const answerPcr: Call = {
  verb: 'replace',
  path: pcr('ours'),
  body: { status: { conditions: FAILED } },
};
const publish: Call = {
  verb: 'create',
  path: BUNDLES,
  body: {
    metadata: { name: 'example.com:workload:primary' },
    spec: { signerName: 'example.com/workload' },
  },
};
const attest: Call = {
  verb: 'replace',
  path: `${SIGNERS}/guarded/status`,
  body: { status: { observedGeneration: 1 } },
};
const writeSigner: Call = {
  verb: 'replace',
  path: `${SIGNERS}/guarded`,
  body: { metadata: { labels: { by: 'attack' } } },
};
const writeExternalSigner: Call = {
  verb: 'create',
  path: '/apis/countersign.dev/v1alpha1/externalclustersigners',
  body: { apiVersion: 'countersign.dev/v1alpha1', kind: 'ExternalClusterSigner' },
};
const mintToken: Call = {
  verb: 'create',
  path: `/api/v1/namespaces/${SYSTEM}/serviceaccounts/countersign-authority/token`,
  body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
};
const BESIDE = 'make a Secret beside the components';
const makeSecretBesideComponents: Call = {
  verb: 'create',
  path: `/api/v1/namespaces/${SYSTEM}/secrets`,
  body: { metadata: { name: 'minted' } },
};

/**
 * A status update may change the metadata as well: an owner that does not exist has an object
 * deleted.
 */
const disown = (part: 'status' | 'approval'): Call => ({
  verb: 'replace',
  path: csr(part === 'status' ? 'foreign' : 'ours', part),
  body: {
    metadata: {
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'gone' }],
    },
  },
});
/** An account key stands for every Secret that was not named to it. */
const readAccountKey: Call = { verb: 'get', path: `${SECRETS}/account` };

function cannot(component: string, sentences: Readonly<Record<string, Call>>): readonly Attempt[] {
  return Object.entries(sentences).map(([sentence, call]) => ({
    component,
    cannot: sentence,
    call,
  }));
}

const NOBODY_MAY = {
  'list Secrets': listSecrets,
  'publish a bundle': publish,
  'write a ClusterSigner or its status': attest,
  'write an Event of another controller': FORGED,
  'mint a token': mintToken,
} as const;

/** Strangers ask them. */
const BY_WHO_FACES_STRANGERS = {
  'read a Secret': readOwnCa,
  'list Secrets': listSecrets,
  'answer a CertificateSigningRequest': answerCsr,
  'publish a bundle': publish,
  'write a ClusterSigner or its status': attest,
  'write an Event': FORGED,
  'report in a Lease': writeForeignLease('signer'),
  'approve a CertificateSigningRequest': approve,
  'mint a token': mintToken,
};

const BY_WHO_SIGNS_NOTHING: Readonly<Record<string, Call>> = {
  'read the Secret of a CA': readOwnCa,
  'list Secrets': listSecrets,
  'approve a CertificateSigningRequest': approve,
  'answer a CertificateSigningRequest': answerCsr,
  'answer a PodCertificateRequest': answerPcr,
  'publish a bundle': publish,
  'write a ClusterSigner or its status': writeSigner,
  'write an Event of another controller': FORGED,
  'report in the Lease of another component': writeForeignLease('signer'),
  'mint a token': mintToken,
};

export const ATTEMPTS: readonly Attempt[] = [
  ...Object.entries(HELD).flatMap(([component, sentences]) => cannot(component, sentences)),
  ...cannot('approver', {
    ...NOBODY_MAY,
    'read the Secret of a CA': readOwnCa,
    'approve for a signer name that the installation does not have': {
      ...approve,
      path: csr('foreign', 'approval'),
    },
    'answer a CertificateSigningRequest': answerCsr,
    'change the metadata of a CertificateSigningRequest': disown('approval'),
    'answer a PodCertificateRequest': answerPcr,
    'report in the Lease of another component': writeForeignLease('signer'),
  }),
  ...cannot('signer', {
    ...NOBODY_MAY,
    'approve a CertificateSigningRequest': approve,
    'change the metadata of a CertificateSigningRequest': disown('status'),
    'answer for a signer name that the installation does not have': answerForeignCsr,
    'answer a PodCertificateRequest': answerPcr,
    'read another Secret': readForeignSecret,
    'write the Secret of a CA': {
      verb: 'replace',
      path: `${SECRETS}/workload-ca`,
      body: { metadata: { labels: { by: 'attack' } } },
    },
    'report in the Lease of another component': writeForeignLease('pcr-issuer'),
  }),
  ...cannot('pcr-issuer', {
    ...NOBODY_MAY,
    'answer a CertificateSigningRequest': answerCsr,
    'approve a CertificateSigningRequest': approve,
    'answer for a signer name that the installation does not have': {
      ...answerPcr,
      path: pcr('foreign'),
    },
    ...ON_PODS,
    'read another Secret': readForeignSecret,
    'report in the Lease of another component': writeForeignLease('signer'),
  }),
  ...cannot('certificate-request', {
    ...NOBODY_MAY,
    'answer a CertificateRequest of another issuer': answerForeignRequest,
    'approve a CertificateRequest': approveRequest('ours'),
    'answer a CertificateSigningRequest': answerCsr,
    'answer a PodCertificateRequest': answerPcr,
    'read another Secret': readForeignSecret,
    'report in the Lease of another component': writeForeignLease('signer'),
  }),
  ...cannot('attester', {
    'read the Secret of a CA': readOwnCa,
    'list Secrets': listSecrets,
    'make a bundle that names no signer': {
      verb: 'create',
      path: BUNDLES,
      body: { metadata: { name: 'free-name' } },
    },
    'make a bundle that the installation does not have': {
      verb: 'create',
      path: BUNDLES,
      body: {
        metadata: { name: 'example.com:workload:second' },
        spec: { signerName: 'example.com/workload' },
      },
    },
    'change or delete a bundle of another signer': {
      verb: 'delete',
      path: `${BUNDLES}/${FOREIGN_BUNDLE}`,
    },
    'answer a CertificateSigningRequest': answerCsr,
    'answer a PodCertificateRequest': answerPcr,
    'write a ClusterSigner or its status': attest,
    'write an Event of another controller': FORGED,
    'report in the Lease of another component': writeForeignLease('signer'),
    'mint a token': mintToken,
  }),
  ...cannot('authority', {
    'create a Secret that is no CA of the installation': {
      verb: 'create',
      path: SECRETS,
      body: { metadata: { name: 'squatted' } },
    },
    'create a Secret beside the components': makeSecretBesideComponents,
    'create a Secret that the cluster fills with a token': {
      verb: 'create',
      path: SECRETS,
      body: {
        type: 'kubernetes.io/service-account-token',
        metadata: {
          name: 'people-ca',
          annotations: { 'kubernetes.io/service-account.name': 'default' },
        },
      },
    },
    'delete the Secret of a CA': { verb: 'delete', path: `${SECRETS}/workload-ca` },
    'read another Secret': readForeignSecret,
    'list Secrets': listSecrets,
    'approve a CertificateSigningRequest': approve,
    'answer a CertificateSigningRequest': answerCsr,
    'answer a PodCertificateRequest': answerPcr,
    'publish a bundle': publish,
    'write a ClusterSigner': writeSigner,
    'write an Event of another controller': FORGED,
    'report in the Lease of another component': writeForeignLease('signer'),
    'mint a token': mintToken,
  }),
  ...cannot('acme', {
    ...NOBODY_MAY,
    ...BY_ACME,
    'read the Secret of a CA': readOwnCa,
    'approve a CertificateSigningRequest': approve,
    'change the metadata of a CertificateSigningRequest': disown('status'),
    'answer for a signer name that the installation does not have': answerForeignCsr,
    'answer a CertificateRequest of another issuer': answerForeignRequest,
    'approve a CertificateRequest': approveRequest('acme'),
    'answer a PodCertificateRequest': answerPcr,
    'report in the Lease of another component': writeForeignLease('signer'),
  }),
  ...cannot('external-signer', {
    ...NOBODY_MAY,
    'read the Secret of a CA': readOwnCa,
    'approve a CertificateSigningRequest': approve,
    'change the metadata of a CertificateSigningRequest': disown('status'),
    'answer for a signer name that the installation does not have': answerForeignCsr,
    'write an ExternalClusterSigner': writeExternalSigner,
    'report in the Lease of another component': writeForeignLease('signer'),
  }),
  ...cannot('acme-responder', { ...BY_RESPONDER, ...BY_WHO_FACES_STRANGERS }),
  ...cannot('acme-solver', {
    ...NOBODY_MAY,
    ...BY_SOLVER,
    'read an account key': readAccountKey,
    'read the Secret of a CA': readOwnCa,
    'approve a CertificateSigningRequest': approve,
    'answer a CertificateSigningRequest': answerCsr,
    'report in the Lease of another component': writeForeignLease('signer'),
  }),
  ...cannot('pod-refresher', { ...WORKLOAD_ATTEMPTS, ...ON_RECORDS, ...BY_WHO_SIGNS_NOTHING }),
  ...cannot('trust-distributor', { ...BY_TRUST_DISTRIBUTOR, ...BY_WHO_SIGNS_NOTHING }),
  ...cannot('bundle-endpoint', BY_WHO_FACES_STRANGERS),
  ...cannot('federation', { ...BY_FEDERATION, ...BY_WHO_SIGNS_NOTHING }),
  ...cannot('notifier', {
    ...BY_WHO_SIGNS_NOTHING,
    'write an Event of another controller': FORGED_BESIDE,
    [BESIDE]: makeSecretBesideComponents,
  }),
  ...cannot('ledger', {
    ...BY_WHO_SIGNS_NOTHING,
    [BESIDE]: makeSecretBesideComponents,
  }),
];
