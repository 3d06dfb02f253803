// SPDX-License-Identifier: Apache-2.0
import type { AuthorityPhase } from '../../api/signer/cluster-signer.ts';

export type RequestKind =
  'CertificateSigningRequest' | 'PodCertificateRequest' | 'CertificateRequest';

/** When the certificates of one owner expire. Times are Unix seconds. */
export interface ExpirySeries {
  readonly signer: string;
  /** '' for owners without one. */
  readonly namespace: string;
  /** A ServiceAccount for pods, a username for CertificateSigningRequests. */
  readonly owner: string;
  /** The first notAfter. */
  readonly soonest: number;
  /** The first notAfter of those whose renewal was denied or failed; undefined: there are none. */
  readonly refused: number | undefined;
}

/** What the request controllers count; `web/metrics.ts` has the series. */
export interface RequestMetrics {
  /** A reconciliation ended a request or made it wait. `reason` is one of a small fixed set. */
  outcome(labels: {
    readonly kind: RequestKind;
    readonly signer: string;
    readonly outcome: string;
    readonly reason: string;
  }): void;
  /** Seconds from creation to the write that ended it. */
  duration(kind: RequestKind, signer: string, seconds: number): void;
  /** Requests in the cache that still need this component. */
  pending(kind: RequestKind, signer: string, count: number): void;
  /** Leaves whose names of Services are no longer all theirs: of those that the ledger knows, or of those delivered since the start. */
  podNamesOutdated(signer: string, leaves: number, since: 'ledger' | 'start'): void;
  /** When certificates expire, by owner, instead of what was said before. */
  expiries(series: readonly ExpirySeries[]): void;
  /** The signer name is not served any longer: its gauges must not keep their last values. */
  unserved(signer: string): void;
}

/** What acme-responder counts; `web/metrics.ts` has the series. */
export interface ResponderMetrics {
  /** Somebody asked for a file of HTTP-01. */
  challengeAnswered(status: number): void;
}

/** What is measured of a place outside the cluster, in Unix seconds. */
export interface PublishedState {
  /** When it took a checkpoint. Absent: as before. */
  readonly at?: number;
  /** Since when it lacks one; 0 where it lacks none. */
  readonly waitingSince?: number;
  /** Whether it has seen another past of the log. */
  readonly contradicted?: boolean;
}

/** What federation counts; `web/trust-series.ts` has the series. The trust domains are those that flags name. */
export interface FederationMetrics {
  /** It looked at a foreign trust domain; `outcome` is one of a small fixed set. */
  federated(trustDomain: string, outcome: string): void;
  /**
   * What is published of it: how many CAs, and when its endpoint gave a good answer last, in Unix seconds, 0 for never;
   * undefined: another replica knows.
   */
  federatedState(
    trustDomain: string,
    state: { readonly anchors: number; readonly confirmedAt: number } | undefined,
  ): void;
}

/** What bundle-endpoint counts; `web/trust-series.ts` has the series. `profile`: `https_web` or `https_spiffe`. */
export interface EndpointMetrics {
  /** Somebody asked for a SPIFFE bundle. */
  bundleAnswered(profile: string, status: number): void;
  /** The certificate of a port is in use; Unix seconds. */
  endpointCertificate(profile: string, notAfter: number): void;
}

/** How a target of notifications is doing. */
export interface NotificationState {
  /** How many notifications wait for it. */
  readonly pending: number;
  /** Since when it takes none, in Unix seconds; 0 where it does. */
  readonly failingSince: number;
  /** Whether it said that it is retired. */
  readonly isGone: boolean;
}

/** What notifier counts; `web/refresh-series.ts` has the series. */
export interface NotificationMetrics {
  /** A call to a target ended. */
  notified(target: string, outcome: string): void;
  /** A target will not get so many notifications. */
  notificationsDropped(target: string, reason: string, count: number): void;
  notificationTarget(target: string, state: NotificationState): void;
}

/** What ledger counts; `web/ledger-series.ts` has the series. */
export interface LedgerMetrics {
  /** A record was kept that was not there before. */
  ledgerAppended(sender: string, kind: string): void;
  /** A record, or a whole batch, was not taken. `code`: of an error, or the HTTP status. */
  ledgerRefused(sender: string, code: string): void;
  /** Records were removed: by `retention`, or as a `person` asked. */
  ledgerErased(reason: string, count: number): void;
  /** A checkpoint was signed and published. `at` in Unix seconds. */
  ledgerHead(log: string, entries: number, at: number): void;
  /** What a place outside the cluster has of the checkpoints. */
  ledgerPublished(destination: string, state: PublishedState): void;
  /** Certificates without a record: those that nobody has acknowledged, and those that are explained. */
  ledgerUnrecorded(open: number, explained: number): void;
}

/** What pod-refresher counts; `web/refresh-series.ts` has the series. */
export interface RefreshMetrics {
  /** After a pass: how many workloads that opted in are in each state. */
  refreshed(states: ReadonlyMap<string, number>): void;
  /** A restart was begun, or refused by the API server. */
  restarted(outcome: 'begun' | 'refused'): void;
  /** The outcome of one eviction. */
  evicted(outcome: string): void;
}

/** What authority and attester measure; `web/trust-series.ts` has the series. */
export interface TrustMetrics {
  /** Bundles under our signer names that the attester does not manage. */
  foreignBundles(signer: string, count: number): void;
  /** The attester removed an anchor that it had not added to a published bundle. */
  strangerAnchor(signer: string, fingerprint: string): void;
  /** A ConfigMap with anchors was written (`apply`), deleted (`delete`), or is somebody's own (`refused`). */
  trustTarget(signer: string, outcome: string): void;
  /** How many targets of trust do not have what is published. */
  trustTargetsLagging(signer: string, count: number): void;
  /** When the Active CA expires, in Unix seconds. */
  authorityNotAfter(signer: string, seconds: number): void;
  /** Until when a leaf can get the profile's full validity, in Unix seconds. */
  authorityFullLeaves(signer: string, seconds: number): void;
  authorityPhase(signer: string, phase: AuthorityPhase, count: number): void;
  /** The CRLs of a signer: the first nextUpdate in Unix seconds, and the entries of all; undefined: it has none. */
  crl(
    signer: string,
    of: { readonly nextUpdate: number; readonly entries: number } | undefined,
  ): void;
  /** Whether a CRL of the signer cannot be signed or written. */
  crlFailing(signer: string, isFailing: boolean): void;
  /** The published bundle; times in Unix seconds. */
  bundle(
    signer: string,
    of: { readonly certificates: number; readonly notAfter: number; readonly published: number },
  ): void;
}

/** What `acme` counts; `web/acme-series.ts` has the series. */
export interface AcmeMetrics {
  /** A call to an ACME server ended. `status`: the HTTP status, or the cause of none. */
  acmeCall(endpoint: string, status: string): void;
  /** Orders by state; one that has none yet is `new`. */
  acmeOrders(state: string, count: number): void;
  /** Challenges by state: `queued`, or that of the authorization. */
  acmeChallenges(state: string, count: number): void;
  /** A self-check ended. */
  acmeSelfCheck(type: string, passed: boolean, seconds: number): void;
  /** An account waits because of a limit of the CA. */
  acmeRateLimited(seconds: number): void;
  /** Certificates in use: `waiting` for their time, `due`, or `overdue`. */
  acmeRenewals(state: string, count: number): void;
  /** When the next one is to be renewed, in milliseconds since 1970; undefined: there is none. */
  acmeNextRenewal(at: number | undefined): void;
}
