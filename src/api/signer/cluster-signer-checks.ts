// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '#base/errors.ts';
import { quoteList } from '#base/quote.ts';
import type {
  ClusterSignerSpec,
  CsrUpstream,
  ManagedAuthority,
  PodsSpec,
  ProfileSpec,
  RequestsSpec,
} from './cluster-signer.ts';
import {
  MAX_BACKDATE_SECONDS,
  MAX_UNCHECKED_BACKDATE_SECONDS,
  MAX_POD_LEAF_SECONDS,
  MIN_CA_LIFETIMES,
  MIN_INTERMEDIATE_LIFETIMES,
  MIN_CRL_SECONDS,
  MIN_LEAF_SECONDS,
} from './cluster-signer-limits.ts';
import { MIN_LIFETIME_SECONDS } from '../request/pod-certificate-request.ts';
import { formatDuration, parseDuration } from '../object/duration.ts';
import { ACME_NAMESPACED_DOMAIN, NAMESPACED_DOMAIN } from '#base/authorizing-names.ts';
import { checkSignerName } from './signer-name.ts';
import { isDerivedName } from './signer.ts';

/** A fault of one field: the problem and its fix. */
export interface SpecProblem {
  readonly path: string;
  readonly message: string;
  readonly cause?: SignerError;
}

/**
 * Returns all faults of a ClusterSigner: those of its spec, and a signer name reserved for Signers.
 */
export function validateClusterSigner(spec: ClusterSignerSpec): readonly SpecProblem[] {
  return [...faultsOfDerivedName(spec.signerName), ...validateSpec(spec)];
}

/**
 * Checks relations between fields, which the schema cannot. Returns all faults, not just the first.
 */
export function validateSpec(spec: ClusterSignerSpec): readonly SpecProblem[] {
  const { managed } = spec.authority;
  const faults = [
    ...faultsOf('spec.signerName', () => checkSignerName(spec.signerName)),
    ...faultsOfHub(spec.authority.managed?.upstream?.csr),
    ...durations(spec).flatMap(([path, text]) => faultsOf(path, () => parseDuration(text))),
  ];
  if (faults.length > 0) return faults;
  return [
    ...(spec.pods === undefined ? [] : faultsOfPods(spec.pods)),
    ...faultsOfProfile(spec.profile, spec.pods !== undefined),
    ...(managed === undefined ? [] : faultsOfManaged(managed, spec.profile)),
    ...faultsOfKeyHolder(spec),
    ...faultsOfIntermediates(spec),
    ...faultsOfRuleUsages(spec),
  ];
}

/**
 * Returns the faults of rules that allow a usage that the profile does not allow. Such a rule could
 * never approve a request with the usage, and no message would name it.
 */
export function faultsOfRuleUsages(spec: {
  readonly profile: Pick<ProfileSpec, 'usages'>;
  readonly requests?: Pick<RequestsSpec, 'rules'> | undefined;
  readonly certificateRequests?: Pick<RequestsSpec, 'rules'> | undefined;
}): readonly SpecProblem[] {
  return (['requests', 'certificateRequests'] as const).flatMap((section) =>
    (spec[section]?.rules ?? []).flatMap(({ allow }, index) => {
      const outside = (allow.usages ?? []).filter((usage) => !spec.profile.usages.includes(usage));
      if (outside.length === 0) return [];
      const message = `contains ${quoteList(outside)}, which spec.profile.usages does not allow; add ${outside.length === 1 ? 'it' : 'them'} to spec.profile.usages, or remove ${outside.length === 1 ? 'it' : 'them'} here`;
      return [{ path: `spec.${section}.rules[${index}].allow.usages`, message }];
    }),
  );
}

function faultsOfHub(csr: CsrUpstream | undefined): readonly SpecProblem[] {
  if (csr === undefined) return [];
  const path = 'spec.authority.managed.upstream.csr.signerName';
  return faultsOf(path, () => checkSignerName(csr.signerName));
}

/** Returns the fault of a signer name that is reserved for namespaces. */
export function faultsOfDerivedName(signerName: string): readonly SpecProblem[] {
  const isOfAcme = signerName.startsWith(`${ACME_NAMESPACED_DOMAIN}/`);
  if (!isOfAcme && !isDerivedName(signerName)) return [];
  const [domain, kinds] = isOfAcme
    ? [ACME_NAMESPACED_DOMAIN, 'AcmeSigners']
    : [NAMESPACED_DOMAIN, 'Signers'];
  const message = `the domain ${domain} is reserved for the derived names of ${kinds}; use a domain of your own`;
  return [{ path: 'spec.signerName', message }];
}

function durations({ profile, authority }: ClusterSignerSpec): readonly [string, string][] {
  const found: [string, string | undefined][] = [
    ['spec.profile.maxDuration', profile.maxDuration],
    ['spec.profile.backdate', profile.backdate],
    ['spec.profile.crl.validity', profile.crl?.validity],
    ['spec.authority.managed.duration', authority.managed?.duration],
    ['spec.authority.managed.renewBefore', authority.managed?.renewBefore],
  ];
  return found.flatMap(([path, text]) => (text === undefined ? [] : [[path, text]]));
}

/**
 * Returns the faults of `spec.pods`. No leaf is issued without subject and names, so a spec that
 * can make no other leaf is invalid.
 */
function faultsOfPods(pods: PodsSpec): readonly SpecProblem[] {
  const { uris = [], dnsNames = [], commonName, services } = pods;
  if (uris.length > 0 || dnsNames.length > 0 || commonName !== undefined) return [];
  return services?.required === true ? [] : [{ path: 'spec.pods', message: nameless(pods) }];
}

function nameless({ services, ipAddresses = [] }: PodsSpec): string {
  if (ipAddresses.length > 0) {
    return 'needs the address of the pod at first issue, when the pod has none: the kubelet mounts its volumes before; set uris, dnsNames, commonName or services as well';
  }
  return services === undefined
    ? 'gives the leaf no name; set uris, dnsNames, commonName or services'
    : 'gives no name to a pod without a Service; set services.required, or uris, dnsNames or commonName as well';
}

function faultsOfProfile(profile: ProfileSpec, servesPods: boolean): readonly SpecProblem[] {
  const faults: SpecProblem[] = [];
  const longest = parseDuration(profile.maxDuration);
  const shortest = servesPods ? MIN_LIFETIME_SECONDS : MIN_LEAF_SECONDS;
  const path = 'spec.profile.maxDuration';
  if (longest < shortest) {
    const kind = servesPods ? 'a PodCertificateRequest' : 'a CertificateSigningRequest';
    faults.push({
      path,
      message: `${profile.maxDuration} is shorter than the API server allows for a leaf of ${kind}; set at least ${formatDuration(shortest)}`,
    });
  }
  if (servesPods && longest > MAX_POD_LEAF_SECONDS) {
    faults.push({
      path,
      message: `${profile.maxDuration} is longer than the API server allows for a leaf of a PodCertificateRequest; set at most ${formatDuration(MAX_POD_LEAF_SECONDS)}, or use another ClusterSigner for pods`,
    });
  }
  faults.push(...faultsOfBackdate(profile.backdate, servesPods));
  if (profile.crl !== undefined && parseDuration(profile.crl.validity) < MIN_CRL_SECONDS) {
    faults.push({
      path: 'spec.profile.crl.validity',
      message: `${profile.crl.validity} is too short to be signed and fetched in time; set at least ${formatDuration(MIN_CRL_SECONDS)}`,
    });
  }
  return faults;
}

function faultsOfBackdate(backdate: string, servesPods: boolean): readonly SpecProblem[] {
  const most = servesPods ? MAX_BACKDATE_SECONDS : MAX_UNCHECKED_BACKDATE_SECONDS;
  if (parseDuration(backdate) <= most) return [];
  const why = servesPods
    ? 'the API server allows for a leaf of a PodCertificateRequest'
    : 'a new CA is backdated';
  const message = `${backdate} is longer than ${why}; set at most ${formatDuration(most)}`;
  return [{ path: 'spec.profile.backdate', message }];
}

function faultsOfManaged(managed: ManagedAuthority, profile: ProfileSpec): readonly SpecProblem[] {
  const faults: SpecProblem[] = [];
  const lifetime = parseDuration(managed.duration);
  const least = MIN_CA_LIFETIMES * parseDuration(profile.maxDuration);
  if (lifetime < least) {
    faults.push({
      path: 'spec.authority.managed.duration',
      message: `${managed.duration} is less than ${MIN_CA_LIFETIMES} × spec.profile.maxDuration (${profile.maxDuration}); set at least ${formatDuration(least)}`,
    });
  }
  if (managed.upstream?.csr !== undefined && managed.crossSigned) {
    const message =
      'cannot be true beside upstream.csr: a hub signs CAs with path length 0 only; omit it';
    faults.push({ path: 'spec.authority.managed.crossSigned', message });
  }
  if (managed.renewBefore !== undefined && parseDuration(managed.renewBefore) >= lifetime) {
    faults.push({
      path: 'spec.authority.managed.renewBefore',
      message: `${managed.renewBefore} is not less than spec.authority.managed.duration (${managed.duration}); set a smaller renewBefore, or omit it for a fifth of the duration`,
    });
  }
  return faults;
}

/** Returns the fault of CRLs that `authority` cannot sign with a key in a key holder. */
function faultsOfKeyHolder({ authority, profile }: ClusterSignerSpec): readonly SpecProblem[] {
  if (authority.keyHolder === undefined || profile.crl === undefined) return [];
  const message =
    'authority signs no CRL with a key in a key holder yet; omit it, and publish a CRL of your own';
  return [{ path: 'spec.profile.crl', message }];
}

/**
 * Returns the faults of a signer that signs CAs. It signs nothing else, with a CA that `authority`
 * created for it alone.
 */
function faultsOfIntermediates(spec: ClusterSignerSpec): readonly SpecProblem[] {
  const { intermediates, pods, requests, certificateRequests, authority, profile } = spec;
  if (intermediates === undefined) return [];
  const path = 'spec.intermediates';
  const faults: SpecProblem[] = [];
  if (pods !== undefined || requests !== undefined || certificateRequests !== undefined) {
    const message =
      'cannot be beside pods, requests or certificateRequests: a signer signs leaves or CAs; use another ClusterSigner for leaves';
    faults.push({ path, message });
  }
  const { managed } = authority;
  if (managed === undefined) {
    const message =
      'needs authority.managed: a CA that exists for another purpose signs no CA of another cluster';
    return [...faults, { path, message }];
  }
  if (managed.crossSigned) {
    const message =
      'cannot be true beside spec.intermediates: no CA may follow below a cross-certificate; omit it';
    faults.push({ path: 'spec.authority.managed.crossSigned', message });
  }
  if (managed.upstream !== undefined) {
    const message = 'cannot be beside spec.intermediates yet; omit it, so that the CA is a root';
    faults.push({ path: 'spec.authority.managed.upstream', message });
  }
  const least = MIN_INTERMEDIATE_LIFETIMES * parseDuration(profile.maxDuration);
  if (parseDuration(managed.duration) < least) {
    const message = `${managed.duration} is less than ${MIN_INTERMEDIATE_LIFETIMES} × spec.profile.maxDuration (${profile.maxDuration}), as spec.intermediates needs; set at least ${formatDuration(least)}`;
    faults.push({ path: 'spec.authority.managed.duration', message });
  }
  return faults;
}

function faultsOf(path: string, check: () => unknown): readonly SpecProblem[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    return [{ path, message: error.message, cause: error }];
  }
}
