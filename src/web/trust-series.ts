// SPDX-License-Identifier: Apache-2.0
import { Counter, Gauge, type Registry } from 'prom-client';

/** The series of CAs and of the bundles that their anchors are published in. */
export interface TrustSeries {
  readonly foreignBundles: Gauge<'signer'>;
  readonly strangerAnchors: Counter<'signer' | 'anchor'>;
  readonly trustTargets: Counter<'signer' | 'outcome'>;
  readonly bundleAnswers: Counter<'profile' | 'code'>;
  readonly endpointNotAfter: Gauge<'profile'>;
  readonly trustTargetsLagging: Gauge<'signer'>;
  readonly authorityNotAfter: Gauge<'signer'>;
  readonly authorityFullLeaves: Gauge<'signer'>;
  readonly authorityPhase: Gauge<'signer' | 'phase'>;
  readonly bundleCertificates: Gauge<'signer'>;
  readonly bundleNotAfter: Gauge<'signer'>;
  readonly bundlePublished: Gauge<'signer'>;
  readonly crlNextUpdate: Gauge<'signer'>;
  readonly crlEntries: Gauge<'signer'>;
  readonly crlFailing: Gauge<'signer'>;
}

export function trustSeries(registers: Registry[]): TrustSeries {
  const ofSigner = (name: string, help: string): Gauge<'signer'> =>
    new Gauge({ name: `countersign_${name}`, help, labelNames: ['signer'], registers });
  return {
    foreignBundles: ofSigner(
      'trust_bundle_foreign',
      'ClusterTrustBundles under a signer name of ours that we do not publish.',
    ),
    strangerAnchors: new Counter({
      name: 'countersign_trust_bundle_stranger_anchors_total',
      help: 'Foreign anchors that were removed from a published bundle, by fingerprint.',
      labelNames: ['signer', 'anchor'],
      registers,
    }),
    ...endpointSeries(registers),
    ...targetSeries(registers, ofSigner),
    authorityNotAfter: ofSigner(
      'ca_not_after_timestamp_seconds',
      'When the CA that signs expires.',
    ),
    authorityFullLeaves: ofSigner(
      'ca_full_leaves_until_timestamp_seconds',
      'Until when a leaf may be as long as the profile says; later it ends with its CA.',
    ),
    authorityPhase: new Gauge({
      name: 'countersign_ca_rotation_phase',
      help: 'CAs of a signer, by rotation phase.',
      labelNames: ['signer', 'phase'],
      registers,
    }),
    bundleCertificates: ofSigner(
      'trust_bundle_certificates',
      'Trust anchors in the published bundle.',
    ),
    bundleNotAfter: ofSigner(
      'trust_bundle_not_after_timestamp_seconds',
      'When the first of the published trust anchors expires.',
    ),
    bundlePublished: ofSigner(
      'trust_bundle_published_timestamp_seconds',
      'When a trust anchor was added to the published bundle last.',
    ),
    crlNextUpdate: ofSigner(
      'crl_next_update_timestamp_seconds',
      'The first nextUpdate of the CRLs of a signer: after it, verifiers refuse its leaves.',
    ),
    crlEntries: ofSigner('crl_entries', 'Certificates on the CRLs of a signer.'),
    crlFailing: ofSigner(
      'crl_failing',
      'Whether a CRL of a signer cannot be signed or written (1) or can (0).',
    ),
  };
}

function endpointSeries(
  registers: Registry[],
): Pick<TrustSeries, 'bundleAnswers' | 'endpointNotAfter'> {
  return {
    bundleAnswers: new Counter({
      name: 'countersign_bundle_endpoint_responses_total',
      help: 'Responses to requests for SPIFFE bundles, by profile of the endpoint and HTTP status.',
      labelNames: ['profile', 'code'],
      registers,
    }),
    endpointNotAfter: new Gauge({
      name: 'countersign_bundle_endpoint_certificate_not_after_timestamp_seconds',
      help: 'When the certificate of a bundle endpoint expires, by profile.',
      labelNames: ['profile'],
      registers,
    }),
  };
}

/** The series of what trust-distributor writes. */
function targetSeries(
  registers: Registry[],
  ofSigner: (name: string, help: string) => Gauge<'signer'>,
): Pick<TrustSeries, 'trustTargets' | 'trustTargetsLagging'> {
  return {
    trustTargets: new Counter({
      name: 'countersign_trust_targets_total',
      help: 'ConfigMaps and caBundles with anchors that were written or deleted, and looks at some that are left alone (refused).',
      labelNames: ['signer', 'outcome'],
      registers,
    }),
    trustTargetsLagging: ofSigner(
      'trust_targets_lagging',
      'ConfigMaps and objects with a caBundle that cannot be written with what is published.',
    ),
  };
}

/** What `federation` measures of each foreign trust domain that a flag names. */
export interface FederationSeries {
  readonly federated: Counter<'trust_domain' | 'outcome'>;
  readonly federatedAnchors: Gauge<'trust_domain'>;
  readonly federationConfirmed: Gauge<'trust_domain'>;
}

/** The series of {@link FederationSeries}. */
export function federationSeries(registers: Registry[]): FederationSeries {
  return {
    federated: new Counter({
      name: 'countersign_federation_looks_total',
      help: 'Looks at the bundles of foreign trust domains, by what came of them.',
      labelNames: ['trust_domain', 'outcome'],
      registers,
    }),
    federatedAnchors: new Gauge({
      name: 'countersign_federation_anchors',
      help: 'CAs in the ClusterTrustBundle of a foreign trust domain; 0: none of its SVIDs is valid here.',
      labelNames: ['trust_domain'],
      registers,
    }),
    federationConfirmed: new Gauge({
      name: 'countersign_federation_confirmed_timestamp_seconds',
      help: 'When the bundle endpoint of a foreign trust domain gave a good answer last; 0: never.',
      labelNames: ['trust_domain'],
      registers,
    }),
  };
}
