// SPDX-License-Identifier: Apache-2.0
/** `countersign.dev/v1alpha1` FleetMember: a member of a fleet, as its hub lists it. */
import type { KubeObject } from '../object/object.ts';
import { GROUP, VERSION } from './cluster-signer.ts';

/**
 * Group, version and plural of FleetMembers. Only hubs have them, in the namespace of the members'
 * accounts. The name is that of the cluster.
 */
export const FLEET_MEMBERS = { group: GROUP, version: VERSION, plural: 'fleetmembers' } as const;

/** Limits of the fields of a report. A member can fill only its own object. */
export const MAX_REPORTED_ANCHORS = 32;
export const MAX_REPORTED_TEXT = 1_024;
export const MAX_REPORTED_VERSION = 64;

/** Interval of the reports of a member that does not change, in milliseconds. */
export const REPORT_INTERVAL_MS = 3_600_000;

/** The report of a member. A thief of its credential can write it as well. */
export interface FleetMemberStatus {
  /** RFC 3339, by the clock of the member's API server. */
  readonly reportedAt?: string | undefined;
  /** Version of Countersign on the member. */
  readonly version?: string | undefined;
  /** The CA that signs there. */
  readonly authority?: FleetMemberAuthority | undefined;
  /** Fingerprints of the trust anchors in the bundle of the member's signer. */
  readonly anchors?: readonly string[] | undefined;
  /** The problem of the member's signer, or what it waits for, as text. */
  readonly waitsFor?: string | undefined;
}

interface FleetMemberAuthority {
  readonly fingerprint: string;
  /** RFC 3339. */
  readonly notAfter: string;
}

/** A cluster whose CA the hub signs. `fleet join` creates it, and the member writes its status. */
export interface FleetMember extends KubeObject {
  readonly spec: {
    /** Signer name of the hub. */
    readonly signerName: string;
  };
  readonly status?: FleetMemberStatus;
}
