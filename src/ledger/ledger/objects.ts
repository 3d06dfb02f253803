// SPDX-License-Identifier: Apache-2.0
/** Names of the cluster objects that the ledger uses. The manifests create its own ones empty. */

/** The Secret with the keys of the logs, in the namespace of the components. */
export const LOG_KEY_SECRET = 'countersign-ledger-key';

/** The ConfigMap with the newest checkpoints, in the same namespace. */
export const CHECKPOINTS = 'countersign-ledger-checkpoints';

/** The ConfigMap with the monitor's findings, in the same namespace. */
export const FINDINGS = 'countersign-ledger-findings';

/** The ConfigMap whose values the monitor reads as PEM, in the same namespace. */
export const UPLOADS = 'countersign-ledger-uploads';

/** The ConfigMap in which the API server publishes the CA of its client certificate. */
export const FRONT_PROXY = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };
