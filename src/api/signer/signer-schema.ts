// SPDX-License-Identifier: Apache-2.0
/** The shape of a Signer's `spec`: a ClusterSigner's, less what is not a namespace's to say. */
import { z } from 'zod';
import { CLUSTER_SIGNER_SPEC, objectName } from './cluster-signer-schema.ts';

/** By its name alone: it lies beside its Signer, and nowhere else. */
const authority = z.strictObject({ secret: z.strictObject({ name: objectName }) });

export const SIGNER_SPEC = CLUSTER_SIGNER_SPEC.omit({
  signerName: true,
  authority: true,
  trustBundle: true,
}).extend({ authority });
