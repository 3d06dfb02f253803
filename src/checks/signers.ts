// SPDX-License-Identifier: Apache-2.0
/** Checks of signers, their CAs, and the requests that wait for them. Pure: facts in, outcomes out. */
import { parseDuration } from '../api/object/duration.ts';
import { parseTime } from '../api/object/time.ts';
import { findCondition, type Condition } from '../api/request/conditions.ts';
import { crlConfigMapName } from '../api/revocation/revocation.ts';
import { NOT_SERVED, AWAITING_COMPONENTS } from '../api/serving/report.ts';
import { secretOf, type AuthorityStatus } from '../api/signer/cluster-signer.ts';
import {
  authoritiesOf,
  servedSinceOf,
  unknownAnchors,
  unknownAnchorText,
  type SignerState,
} from '../operations/signer-state.ts';
import { consentCommand } from '../operations/consent.ts';
import { heldSigning } from '../operations/held-signing.ts';
import { shellWord } from '../quote.ts';
import type { InstallationFacts, WaitingRequest } from './facts.ts';
import { allWell, error, warning, whereSeen, type Outcome } from './finding.ts';

const DAY_MS = 24 * 3_600_000;

/** A CA that lives for less than this, or than two of its longest leaves, needs attention. */
const LEAST_CA_MS = 30 * DAY_MS;

/** Within this time a component answers what it can answer. */
const OVERDUE_MS = 120_000;

/** Requests that are named one by one; the others are counted. */
const SHOWN_REQUESTS = 5;

const subjectOf = ({ signer }: SignerState): string => `clustersigner/${signer.metadata.name}`;

/** `signers-valid` */
export function checkSpecs({ signers }: InstallationFacts): readonly Outcome[] {
  return whereSeen(signers, ({ invalid, states }) =>
    allWell(
      invalid.map(({ name, why }) =>
        error(why, `kubectl edit clustersigner ${name}`, `clustersigner/${name}`),
      ),
      states.length === 0
        ? 'there is no ClusterSigner yet: kubectl apply -f deploy/examples/workload.yaml makes one'
        : `all ${states.length} ClusterSigners are valid`,
    ),
  );
}

/** `signers-ready` */
export function checkReady({ signers }: InstallationFacts): readonly Outcome[] {
  return whereSeen(signers, ({ states }) =>
    allWell(states.flatMap(notReady), `all ${states.length} signers are Ready`),
  );
}

function notReady(state: SignerState): readonly Outcome[] {
  const { metadata, status } = state.signer;
  const subject = subjectOf(state);
  const ready = findCondition(status?.conditions, 'Ready');
  if (ready === undefined || status?.observedGeneration !== metadata.generation) {
    return [
      error('authority has not looked at its spec yet', 'check that authority runs', subject),
    ];
  }
  return ready.status === 'True' ? [] : [unready(state, ready)];
}

function unready(state: SignerState, ready: Condition): Outcome {
  const { signer } = state;
  const { reason = 'Unknown', message = '' } = ready;
  const todo = consentCommand(signer) ?? `countersign explain signer/${signer.metadata.name}`;
  // The CA is usable, and some component still signs.
  const partly = reason === NOT_SERVED || reason === AWAITING_COMPONENTS;
  const make = partly ? warning : error;
  return make(`${reason}: ${message}`, todo, subjectOf(state));
}

/** `ca-lifetime` */
export function checkLifetimes({ signers, now }: InstallationFacts): readonly Outcome[] {
  return whereSeen(signers, ({ states }) =>
    allWell(
      states.flatMap((state) =>
        authoritiesOf(state)
          .filter(({ phase }) => phase === 'Active')
          .flatMap((each) => shortLived(state, each, now)),
      ),
      'every CA lives longer than two of its longest leaves and 30 days',
    ),
  );
}

function shortLived(
  state: SignerState,
  { fingerprint, notAfter, longestLeaf }: AuthorityStatus,
  now: number,
): readonly Outcome[] {
  const left = parseTime(notAfter) - now;
  const { name } = state.signer.metadata;
  const todo =
    state.signer.spec.authority.managed === undefined
      ? `replace the CA in its Secret: countersign authority show ${name}`
      : `countersign authority show ${name}; the condition RotationDue says why it is not replaced`;
  if (left <= 0) return [error(`${fingerprint} expired at ${notAfter}`, todo, subjectOf(state))];
  const managed = state.signer.spec.authority.managed;
  // A CA with a shorter life than that is meant so: what counts is whether its renewal is late.
  const whole = managed === undefined ? Infinity : parseDuration(managed.duration) * 1000;
  const needed = Math.min(Math.max(LEAST_CA_MS, 2 * leafMs(longestLeaf)), whole / 4);
  if (left >= needed) return [];
  const days = Math.floor(left / DAY_MS);
  return [
    warning(`${fingerprint} expires at ${notAfter}, in ${days} days`, todo, subjectOf(state)),
  ];
}

function leafMs(longestLeaf: string | undefined): number {
  return longestLeaf === undefined ? 0 : parseDuration(longestLeaf) * 1000;
}

/** `rotation-on-time` */
export function checkRotations({ signers }: InstallationFacts): readonly Outcome[] {
  return whereSeen(signers, ({ states }) =>
    allWell(
      states.flatMap((state) => {
        const { metadata, status } = state.signer;
        return ['RotationDue', 'Degraded'].flatMap((type) => {
          const found = findCondition(status?.conditions, type);
          if (found?.status !== 'True') return [];
          const why = `${type}: ${found.reason ?? ''}: ${found.message ?? ''}`;
          return [warning(why, `countersign authority show ${metadata.name}`, subjectOf(state))];
        });
      }),
      'no rotation is late',
    ),
  );
}

/** `bundles-equal` */
export function checkBundles({ signers }: InstallationFacts): readonly Outcome[] {
  return whereSeen(signers, ({ states }) =>
    allWell(states.flatMap(ofBundle), 'every bundle has the anchors of its CAs, and no other'),
  );
}

function ofBundle(state: SignerState): readonly Outcome[] {
  const { signer, bundle } = state;
  const subject = subjectOf(state);
  const todo = 'kubectl -n countersign-system logs deployment/countersign-attester';
  if (signer.spec.trustBundle === undefined || authoritiesOf(state).length === 0) return [];
  if (bundle === 'unread') {
    const why = 'you may not get clustertrustbundles.certificates.k8s.io';
    return [{ severity: 'unseen', why, todo: 'ask as a user who may', subject }];
  }
  if (bundle === undefined) return [error('its ClusterTrustBundle does not exist', todo, subject)];
  return [
    ...unknownAnchors(state).map((each) =>
      warning(
        unknownAnchorText(each),
        each.retainedUntil === undefined
          ? todo
          : `countersign explain signer/${signer.metadata.name}`,
        subject,
      ),
    ),
    ...authoritiesOf(state)
      .filter((each) => each.phase !== 'Distrusted' && servedSinceOf(state, each) === undefined)
      .map(({ phase, fingerprint }) => {
        const make = phase === 'Active' ? error : warning;
        return make(`${fingerprint} (${phase}) is not in its bundle`, todo, subject);
      }),
  ];
}

/** `crl-distribution-points` */
export function checkDistributionPoints({ signers }: InstallationFacts): readonly Outcome[] {
  return whereSeen(signers, ({ states }) => {
    const listed = states.filter(({ signer }) => signer.spec.profile.crl !== undefined);
    return allWell(
      listed.filter(({ signer }) => signer.spec.profile.crl?.urls === undefined).map(withoutPoints),
      listed.length === 0
        ? 'no signer has profile.crl'
        : 'every leaf of a signer with profile.crl names where its CRL is',
    );
  });
}

function withoutPoints(state: SignerState): Outcome {
  const { spec, metadata } = state.signer;
  const { namespace, name } = secretOf(spec);
  return warning(
    'it has profile.crl without urls: its leaves have no distribution point, and a verifier that checks CRLs and fetches them from there refuses every one of them',
    `set spec.profile.crl.urls (kubectl edit clustersigner ${metadata.name}); or give your verifiers the files of ConfigMap ${namespace}/${crlConfigMapName(name)}, again before each nextUpdate`,
    subjectOf(state),
  );
}

/** `requests-answered` */
export function checkAnswered({ requests, signers, now }: InstallationFacts): readonly Outcome[] {
  const states = 'value' in signers ? signers.value.states : [];
  return whereSeen(requests, (all) =>
    allWell(
      oldestOf(all, { now, waitsForApproval: false }, (each, seconds) => {
        const why = `it waits for a certificate of ${each.signerName} for ${seconds} s`;
        const state = states.find(({ signer }) => signer.spec.signerName === each.signerName);
        const held = state === undefined ? undefined : heldSigning(state);
        const because = held === undefined ? '' : `: ${held.message}`;
        return error(`${why}${because}`, explainCommand(each), each.object);
      }),
      'no request for a certificate waits for longer than two minutes',
    ),
  );
}

/** `requests-approved` */
export function checkApproved({ requests, now }: InstallationFacts): readonly Outcome[] {
  return whereSeen(requests, (all) =>
    allWell(
      oldestOf(all, { now, waitsForApproval: true }, (each, seconds) =>
        warning(
          `no rule of ${each.signerName} approves it, and it waits for a person for ${seconds} s`,
          explainCommand(each),
          each.object,
        ),
      ),
      'no CertificateSigningRequest waits for a person',
    ),
  );
}

function explainCommand({ object, namespace }: WaitingRequest): string {
  const command = `countersign explain ${shellWord(object)}`;
  return namespace === undefined ? command : `${command} -n ${namespace}`;
}

/** The oldest few that are overdue, and how many there are besides. */
function oldestOf(
  all: readonly WaitingRequest[],
  { now, waitsForApproval }: { readonly now: number; readonly waitsForApproval: boolean },
  make: (each: WaitingRequest, seconds: number) => Outcome,
): readonly Outcome[] {
  const late = all.filter(
    (each) => each.waitsForApproval === waitsForApproval && now - each.since > OVERDUE_MS,
  );
  const named = late
    .toSorted((a, b) => a.since - b.since)
    .slice(0, SHOWN_REQUESTS)
    .map((each) => make(each, Math.round((now - each.since) / 1000)));
  const rest = late.length - named.length;
  const [first] = named;
  if (rest <= 0 || first === undefined) return named;
  return [...named, { ...first, subject: `${rest} more`, why: 'they wait as well' }];
}
