// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '#base/errors.ts';
import { parseDuration } from '../object/duration.ts';
import type { KubeObject } from '../object/object.ts';
import { faultsOfRuleUsages, type SpecProblem } from '../signer/cluster-signer-checks.ts';
import type { SignerSpec } from '../signer/cluster-signer.ts';
import { invalidShape, invalidSpec } from '../signer/invalid-spec.ts';
import { isDerivedName } from '../signer/signer.ts';
import { checkSignerName } from '../signer/signer-name.ts';
import type { RequestField } from '#base/vocabulary.ts';
import type { AcmeSigner, AcmeSignerStatus, AcmeSolver } from './acme-signer.ts';
import { ACME_CLUSTER_SIGNER_SPEC, ACME_SIGNER_SPEC } from './acme-signer-schema.ts';
import { ACME_DERIVED_PREFIX, acmeDerivedName } from './names.ts';

const HOUR_SECONDS = 3600;
/** No public CA issues for longer than 398 days. */
const MAX_LIFE_SECONDS = 400 * 24 * HOUR_SECONDS;

/**
 * Reads an AcmeClusterSigner or an AcmeSigner, by its `kind`. Fills in the defaults and checks each
 * field of the spec. The CRD's schema checks `status`, which only `acme` writes.
 *
 * @throws SignerError SPEC_INVALID (`wait`) naming each invalid field and its fix
 */
export function readAcmeSigner(
  object: KubeObject & { readonly status?: AcmeSignerStatus },
): AcmeSigner {
  const { spec: given, status = {} } = object;
  const isNamespaced = object.kind === 'AcmeSigner';
  const shape = isNamespaced
    ? ACME_SIGNER_SPEC.transform((spec) => ({
        ...spec,
        signerName: acmeDerivedName(object.metadata),
      })).safeParse(given)
    : ACME_CLUSTER_SIGNER_SPEC.safeParse(given);
  if (!shape.success) throw invalidShape(object, shape.error, object.kind.toLowerCase());
  const { signerName, profile } = shape.data;
  const faults = [
    ...(isNamespaced ? [] : faultsOfName(signerName)),
    ...faultsOfLife(profile.maxDuration),
    ...faultsOfRuleUsages(shape.data),
    ...(isNamespaced ? shape.data.acme.solvers.flatMap(faultsOfRoute) : []),
    ...shape.data.acme.solvers.flatMap(({ selfCheck }, index) =>
      selfCheck?.waitInstead === undefined
        ? []
        : faultOf(`spec.acme.solvers[${index}].selfCheck.waitInstead`, selfCheck.waitInstead),
    ),
  ];
  if (faults.length > 0) throw invalidSpec(object, faults);
  const spec = { ...withProvableNames(shape.data), profile: { ...profile, backdate: '0s' } };
  return { ...object, spec, status };
}

/**
 * Fields that an ACME server certifies. It certifies all names of a request or none, so a signer
 * that copies none is useless.
 */
const PROVABLE = ['commonName', 'dnsNames', 'ipAddresses'] as const satisfies RequestField[];

function withProvableNames<T extends Pick<SignerSpec, 'requests'>>(spec: T): T {
  const { requests } = spec;
  if (requests === undefined || requests.copy !== undefined) return spec;
  return { ...spec, requests: { ...requests, copy: PROVABLE } };
}

/**
 * Returns the faults of labels and annotations on routes. Routes are in the namespace of the
 * components, where such metadata can make a controller do more than serve a path.
 */
function faultsOfRoute({ http01 }: AcmeSolver, index: number): readonly SpecProblem[] {
  const { labels, annotations } = { ...http01?.ingress, ...http01?.gateway };
  if (labels === undefined && annotations === undefined) return [];
  const message = 'an AcmeSigner must not have labels or annotations of routes; remove them';
  return [{ path: `spec.acme.solvers[${index}].http01`, message }];
}

function faultsOfName(signerName: string): readonly SpecProblem[] {
  const path = 'spec.signerName';
  if (signerName.startsWith(ACME_DERIVED_PREFIX) || isDerivedName(signerName)) {
    const message = 'is in a domain reserved for derived names; use a domain of your own';
    return [{ path, message }];
  }
  try {
    checkSignerName(signerName);
    return [];
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    return [{ path, message: error.message, cause: error }];
  }
}

function faultsOfLife(maxDuration: string): readonly SpecProblem[] {
  const path = 'spec.profile.maxDuration';
  const faults = faultOf(path, maxDuration);
  if (faults.length > 0) return faults;
  const seconds = parseDuration(maxDuration);
  if (seconds >= HOUR_SECONDS && seconds <= MAX_LIFE_SECONDS) return [];
  return [
    { path, message: `${maxDuration} is not between 1h and 9600h; no public CA issues for longer` },
  ];
}

function faultOf(path: string, duration: string): readonly SpecProblem[] {
  try {
    parseDuration(duration);
    return [];
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    return [{ path, message: error.message, cause: error }];
  }
}
