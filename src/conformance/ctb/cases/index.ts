// SPDX-License-Identifier: Apache-2.0
import type { Case } from '../../case.ts';
import type { CtbSnapshot } from '../snapshot.ts';
import { CTB_PUBLISHED } from './published.ts';
import { CTB_UPSTREAM } from './upstream.ts';

/** Every case of `--kind ctb`: ClusterTrustBundles of certificates.k8s.io. */
export const CTB_CASES: readonly Case<CtbSnapshot>[] = [...CTB_PUBLISHED, ...CTB_UPSTREAM];
