// SPDX-License-Identifier: Apache-2.0
/** What upstream's tests of API resources have in common, whatever the kind. */

/** Looks into the discovery documents. */
export const DISCOVERIES = ['discoveryGroups', 'discoveryGroup', 'discoveryResources'] as const;
export type Discovery = (typeof DISCOVERIES)[number];

/** The ways to patch an object. */
export const PATCHES = ['applyPatch', 'strategicPatch', 'mergePatch', 'jsonPatch'] as const;
export type Patch = (typeof PATCHES)[number];
