// SPDX-License-Identifier: Apache-2.0
/**
 * The table of docs/explanation/ten-faults.md: what is broken on purpose. What `countersign check`
 * or `countersign explain` prints of each is carried out, by each way of installing. Those of one
 * group are broken together: none hides another, and what heals one of them leaves the next.
 */
import type { Fault } from './fault.ts';
import { ACCESS_FAULTS, WORKLOAD_FAULTS } from './installation-faults.ts';
import {
  CLUSTER_FAULTS,
  LOST_CA_FAULTS,
  OWN_PORT_FAULTS,
  OWN_PORT_KEY_FAULTS,
  PASSING_FAULTS,
  POD_FAULTS,
  QUOTA_FAULTS,
  SIGNER_FAULTS,
} from './use-faults.ts';

/** What is broken → the faults. */
export const FAULTS: Readonly<Record<string, readonly Fault[]>> = {
  'roles and policies': ACCESS_FAULTS,
  'Deployments and definitions': WORKLOAD_FAULTS,
  ClusterSigners: SIGNER_FAULTS,
  pods: POD_FAULTS,
  'quotas of the components': QUOTA_FAULTS,
  'the cluster around it': CLUSTER_FAULTS,
  'the CA of your own': LOST_CA_FAULTS,
  'what components put right by themselves': PASSING_FAULTS,
  'the CA of own ports': OWN_PORT_FAULTS,
  'the key of own ports': OWN_PORT_KEY_FAULTS,
};
