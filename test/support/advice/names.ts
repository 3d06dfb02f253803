// SPDX-License-Identifier: Apache-2.0
/** Where the pods of a fault are. */
export const TEAM = 'team-advice';
/** The node of these pods. The pods of the installation are not scheduled. */
export const NODE = 'node-1';
