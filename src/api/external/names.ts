// SPDX-License-Identifier: Apache-2.0
import { GROUP, VERSION } from '../signer/cluster-signer.ts';

/** Group, version and plural of ExternalClusterSigners, for URLs and RBAC rules. */
export const EXTERNAL_CLUSTER_SIGNERS = {
  group: GROUP,
  version: VERSION,
  plural: 'externalclustersigners',
};
