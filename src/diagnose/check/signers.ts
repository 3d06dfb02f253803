// SPDX-License-Identifier: Apache-2.0
/**
 * Checks of signers, their CAs, and the requests that wait for them. Pure: facts in, outcomes out.
 */
import { formatDuration, parseDuration } from '#api/object/duration.ts';
import { parseTime } from '#api/object/time.ts';
import { findCondition, type Condition } from '#api/request/conditions.ts';
import { crlConfigMapName } from '#api/revocation/names.ts';
import {
  ANCHOR_REJECTED,
  CRL_NOT_SIGNED,
  NOT_SERVED,
  AWAITING_COMPONENTS,
  isCaReady,
} from '#api/serving/report.ts';
import { secretOf, type AuthorityStatus, type ClusterSigner } from '#api/signer/cluster-signer.ts';
import {
  authoritiesOf,
  servedSinceOf,
  unexpectedAnchors,
  unexpectedAnchorText,
  type SignerState,
} from '#operations/signer-state.ts';
import { isKeyLost } from '#operations/lost-key.ts';
import { holderRemedy, remedyCommand } from '#operations/signer-remedy.ts';
import { pausedSigning } from '#operations/paused-signing.ts';
import { shellWord } from '#base/quote.ts';
import { wouldFail } from '#ca/policy/denial-messages.ts';
import type { InstallationFacts, WaitingRequest } from './facts.ts';
import { isComponentName } from '#install/component-list.ts';
import { enableComponent } from './installer.ts';
import { unboundCauseOf } from './access/bindings.ts';
import { keyLostCause, replacedKey } from './lost-key.ts';
import { listingCause, listingFaults } from './access/listed-signers.ts';
import { allWell, error, warning, whereSeen, withCause, type Outcome } from './finding.ts';

/** Reason of the condition Degraded if components cannot read the current CA Secret. */
const SECRET_UNUSABLE = 'SecretUnusable';

/** Reasons of Degraded that another check reports. */
const HAS_CHECK: ReadonlySet<string> = new Set([SECRET_UNUSABLE, ANCHOR_REJECTED, CRL_NOT_SIGNED]);

/** Condition of a managed CA whose certificate its upstream CA must sign. */
const AWAITING = 'AwaitingCertificate';

const DAY_MS = 24 * 3_600_000;

/** Remaining life below which a CA needs attention, as it does below two of its longest leaves. */
const MIN_CA_MS = 30 * DAY_MS;

/** Age from which a request that waits is overdue. */
const OVERDUE_MS = 120_000;

/** Maximum number of requests that are named. The others are counted. */
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
export function checkReady(facts: InstallationFacts): readonly Outcome[] {
  const listing = listingFaults(facts);
  return whereSeen(facts.signers, ({ states }) =>
    allWell(
      states.flatMap((state) =>
        notReady(facts, state).map((each) => {
          if (isKeyLost(state.signer)) return withCause(each, keyLostCause(state.signer));
          const { name } = state.signer.metadata;
          return withCause(
            each,
            listing.has(name) ? listingCause(name) : unboundCauseOfReady(facts, state),
          );
        }),
      ),
      `all ${states.length} signers are Ready`,
    ),
  );
}

function unboundCauseOfReady(
  facts: InstallationFacts,
  { signer }: SignerState,
): string | undefined {
  const ready = findCondition(signer.status?.conditions, 'Ready');
  return ready?.reason === NOT_SERVED ? unboundCauseOf(facts, ready) : undefined;
}

function notReady(facts: InstallationFacts, state: SignerState): readonly Outcome[] {
  const { metadata, status } = state.signer;
  const subject = subjectOf(state);
  const ready = findCondition(status?.conditions, 'Ready');
  if (ready === undefined || status?.observedGeneration !== metadata.generation) {
    return [
      error('authority has not looked at its spec yet', 'check that authority runs', subject),
    ];
  }
  if (ready.status !== 'True') return [unready(facts, state, ready)];
  const held = pausedSigning(state);
  // bundles-equal reports an anchor that is not published, which has no time.
  if (held?.until === undefined) return [];
  const remediation = `no action is needed: the CA signs at that time. countersign authority show ${metadata.name} shows it`;
  return [error(`no component signs: ${held.message}`, remediation, subject)];
}

function unready(facts: InstallationFacts, state: SignerState, ready: Condition): Outcome {
  const { signer } = state;
  const { reason = 'Unknown', message = '' } = ready;
  const remediation =
    remedyCommand(signer) ??
    switchedOffRemedy(facts, signer, ready) ??
    `countersign explain signer/${signer.metadata.name}`;
  // The CA is usable, and at least one component still signs.
  const partly = reason === NOT_SERVED || reason === AWAITING_COMPONENTS;
  const make = partly ? warning : error;
  return make(`${reason}: ${message}`, remediation, subjectOf(state));
}

/** The only optional component that a ClusterSigner can need. */
const OPTIONAL = 'certificate-request';

/**
 * Returns the advice for a signer that needs the optional component without a Deployment, or
 * undefined. If no component has a Deployment, the components run elsewhere.
 */
function switchedOffRemedy(
  { deployments, installer }: InstallationFacts,
  { spec }: ClusterSigner,
  { reason }: Condition,
): string | undefined {
  if (reason !== NOT_SERVED || spec.certificateRequests === undefined) return undefined;
  const all = 'value' in deployments ? deployments.value : [];
  const own = all.filter(({ component }) => isComponentName(component));
  const isOff = own.length > 0 && !own.some(({ component }) => component === OPTIONAL);
  return isOff ? enableComponent(installer, OPTIONAL) : undefined;
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
  const remediation = replacementOf(state);
  if (left <= 0)
    return [error(`${fingerprint} expired at ${notAfter}`, remediation, subjectOf(state))];
  const managed = state.signer.spec.authority.managed;
  // The shorter life of such a managed CA is intended: only a late renewal counts.
  const whole = managed === undefined ? Infinity : parseDuration(managed.duration) * 1000;
  const needed = Math.min(Math.max(MIN_CA_MS, 2 * leafMs(longestLeaf)), whole / 4);
  if (left >= needed) return [];
  const days = Math.floor(left / DAY_MS);
  return [
    warning(
      `${fingerprint} expires at ${notAfter}, in ${days} days`,
      remediation,
      subjectOf(state),
    ),
  ];
}

function replacementOf({ signer }: SignerState): string {
  const { name } = signer.metadata;
  const { managed, keyHolder } = signer.spec.authority;
  if (keyHolder !== undefined) {
    return `add the key of the next CA to the key holder, then kubectl edit clustersigner ${name}   # key, chain and anchors`;
  }
  return managed === undefined
    ? `replace the CA in its Secret: countersign authority show ${name}`
    : `countersign authority show ${name}; the condition RotationDue says why it is not replaced`;
}

function leafMs(longestLeaf: string | undefined): number {
  return longestLeaf === undefined ? 0 : parseDuration(longestLeaf) * 1000;
}

/** `ca-usable` */
export function checkUsable({ signers }: InstallationFacts): readonly Outcome[] {
  return whereSeen(signers, ({ states }) =>
    allWell(
      states.flatMap((state) => {
        const lost = replacedKey(state);
        if (lost !== undefined) return [lost];
        const found = findCondition(state.signer.status?.conditions, 'Degraded');
        const isUnusable = found?.status === 'True' && found.reason === SECRET_UNUSABLE;
        return isUnusable ? [unusable(state, found.message ?? '')] : [];
      }),
      'the Secret of every CA is usable',
    ),
  );
}

function unusable(state: SignerState, message: string): Outcome {
  const { signer } = state;
  if (signer.spec.authority.keyHolder !== undefined) return unusableChain(signer, message);
  const { namespace, name } = secretOf(signer.spec);
  const why = `Secret ${namespace}/${name} is unusable: ${message}${stillSigningClause(state)}`;
  return error(why, usableAgain(signer), `clustersigner/${signer.metadata.name}`);
}

/** Returns the advice that makes the Secret of a CA usable. */
function usableAgain({ metadata, spec }: ClusterSigner): string {
  const { namespace, name } = secretOf(spec);
  const { managed } = spec.authority;
  if (managed === undefined) {
    return `write its CA again: kubectl -n ${namespace} create secret tls ${name} --cert=ca.crt --key=ca.key --dry-run=client -o yaml | kubectl apply --server-side --force-conflicts -f -`;
  }
  // Only the upstream CA can certify a new key, and until then nothing would sign.
  if (managed.upstream !== undefined) {
    return `do not delete it, or components drop the CA that still signs. Restore it from a backup, or have the upstream CA sign a new certificate: countersign authority show ${shellWord(metadata.name)}`;
  }
  return `restore it from a backup. Without one, delete it: authority creates a new CA, and no component signs for the propagation time: kubectl -n ${namespace} delete secret ${name}`;
}

/** Returns the clause that components sign with the CA read before, or '' if none signs. */
function stillSigningClause(state: SignerState): string {
  return isCaReady(state.signer.status?.conditions) && pausedSigning(state) === undefined
    ? '; components sign with the CA that they read before, until they restart'
    : '';
}

function unusableChain({ metadata }: ClusterSigner, message: string): Outcome {
  return error(
    `the CA in spec.authority.keyHolder is unusable: ${message}`,
    `correct its chain: kubectl edit clustersigner ${metadata.name}`,
    `clustersigner/${metadata.name}`,
  );
}

/** `rotation-on-time` */
export function checkRotations(facts: InstallationFacts): readonly Outcome[] {
  return whereSeen(facts.signers, ({ states }) =>
    allWell(
      states.flatMap((state) => {
        const { metadata, status } = state.signer;
        return ['RotationDue', AWAITING, 'Degraded'].flatMap((type) => {
          const found = findCondition(status?.conditions, type);
          if (found?.status !== 'True') return [];
          const { reason = '', message = '' } = found;
          if (HAS_CHECK.has(reason)) return [];
          const why = `${type}: ${reason}: ${message}`;
          const outcome = warning(
            why,
            holderRemedy(state.signer, found) ??
              `countersign authority ${type === AWAITING && !isCalled(state) ? 'csr' : 'show'} ${metadata.name}`,
            subjectOf(state),
          );
          return [withCause(outcome, unboundCauseOf(facts, found))];
        });
      }),
      'no rotation is late',
    ),
  );
}

/** Reports whether `authority` itself calls the upstream CA. */
function isCalled({ signer }: SignerState): boolean {
  const { upstream } = signer.spec.authority.managed ?? {};
  return upstream !== undefined && upstream.manual === undefined;
}

/** `bundles-equal` */
export function checkBundles({ signers, namespace }: InstallationFacts): readonly Outcome[] {
  return whereSeen(signers, ({ states }) =>
    allWell(
      states.flatMap((state) => ofBundle(state, namespace)),
      'every bundle has the anchors of its CAs, and no other',
    ),
  );
}

function ofBundle(state: SignerState, namespace: string): readonly Outcome[] {
  const { signer, bundle } = state;
  const subject = subjectOf(state);
  const remediation = `kubectl -n ${shellWord(namespace)} logs deployment/countersign-attester`;
  if (signer.spec.trustBundle === undefined || authoritiesOf(state).length === 0) return [];
  if (bundle === 'unread') {
    const why = 'you may not get clustertrustbundles.certificates.k8s.io';
    return [
      { severity: 'unseen', why, remediation: 'run it as a user with this permission', subject },
    ];
  }
  if (bundle === undefined)
    return [error('its ClusterTrustBundle does not exist', remediation, subject)];
  return [
    ...unexpectedAnchors(state).map((each) =>
      (each.isDistrusted === true ? error : warning)(
        unexpectedAnchorText(each),
        each.retainedUntil === undefined
          ? remediation
          : `countersign explain signer/${signer.metadata.name}`,
        subject,
      ),
    ),
    ...authoritiesOf(state)
      .filter((each) => each.phase !== 'Distrusted' && servedSinceOf(state, each) === undefined)
      .map(({ phase, fingerprint }) => {
        const make = phase === 'Active' ? error : warning;
        return make(`${fingerprint} (${phase}) is not in its bundle`, remediation, subject);
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
        const why = `it has waited for a certificate of ${each.signerName} for ${formatDuration(seconds)}`;
        const state = states.find(({ signer }) => signer.spec.signerName === each.signerName);
        const held = state === undefined ? undefined : pausedSigning(state);
        const cause = each.cause ?? held?.message;
        const because = cause === undefined ? '' : `: ${cause}`;
        const outcome = error(`${why}${because}`, explainCommand(each), each.object);
        const isLost = state !== undefined && isKeyLost(state.signer);
        return withCause(outcome, isLost ? keyLostCause(state.signer) : undefined);
      }),
      'no request for a certificate waits for longer than two minutes',
    ),
  );
}

/** `requests-valid` */
export function checkValid({ requests }: InstallationFacts): readonly Outcome[] {
  return whereSeen(requests, (all) => {
    const named = all.flatMap((each) =>
      each.wouldFail === undefined
        ? []
        : [warning(wouldFail(each.wouldFail), explainCommand(each), each.object)],
    );
    const shown = named.slice(0, SHOWN_REQUESTS);
    const rest = named.length - shown.length;
    const [first] = shown;
    const more =
      first === undefined || rest === 0
        ? []
        : [{ ...first, subject: `${rest} more`, why: 'their signers would fail them as well' }];
    return allWell(
      [...shown, ...more],
      'no CertificateSigningRequest waits that its signer would fail',
    );
  });
}

/** `requests-approved` */
export function checkApproved({ requests, now }: InstallationFacts): readonly Outcome[] {
  return whereSeen(requests, (all) =>
    allWell(
      // A person must not approve the others: requests-valid reports them.
      oldestOf(
        all.filter(({ wouldFail: fault }) => fault === undefined),
        { now, waitsForApproval: true },
        (each, seconds) =>
          warning(
            `no rule of ${each.signerName} decides it: it has waited for a person for ${formatDuration(seconds)}`,
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

/** Returns outcomes for the oldest overdue requests, and one that counts the others. */
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
