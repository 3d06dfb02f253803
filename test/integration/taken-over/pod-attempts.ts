// SPDX-License-Identifier: Apache-2.0
import type { Call } from './attempts.ts';

const POD = '/api/v1/namespaces/countersign-system/pods/any';

/** What readers of the ledger may not do without `--ledger-facts`. */
export const ON_RECORDS: Readonly<Record<string, Call>> = {
  'read a record of the ledger where no flag allows it': {
    verb: 'get',
    path: '/apis/ledger.countersign.dev/v1alpha1/records',
  },
};

/**
 * What pcr-issuer may not do with pods, their requests and Services, where no signer asks for their
 * names.
 */
export const ON_PODS: Readonly<Record<string, Call>> = {
  'make a PodCertificateRequest': {
    verb: 'create',
    path: '/apis/certificates.k8s.io/v1/namespaces/countersign-system/podcertificaterequests',
  },
  'read a pod where no signer requires it': { verb: 'get', path: POD },
  'list Services where no signer requires it': { verb: 'get', path: '/api/v1/services' },
  ...ON_RECORDS,
  'list pods': { verb: 'get', path: '/api/v1/pods' },
  'change a pod': { verb: 'patch', path: POD, body: { metadata: { labels: { a: 'b' } } } },
};
