// SPDX-License-Identifier: Apache-2.0
import { membersOf } from '#base/record.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { evaluatePod, usableKey } from '#requests/pcr-issuer/decide.ts';
import type { PodEvidence } from '#requests/pcr-issuer/evidence/evidence.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { podVariables } from '#ca/issuance/pod-subject.ts';
import { compileProfile } from '#ca/issuance/profile.ts';
import { quote, shellWord } from '#base/quote.ts';
import type { Diagnosis } from '../explanation.ts';
import type { SignerView } from '../signer-view.ts';

/**
 * Fix for a Denied or Failed request, which a kubelet treats as permanent
 * (podcertificatemanager.go).
 */
const MEND =
  'correct what is named, in the pod or in the spec of the signer, then delete the pod: its kubelet does not retry';

/** Maximum length of an expression that is shown: about a screen. */
const SHOWN_EXPRESSION = 500;

/**
 * Returns the current verdict of `spec.pods.allow` on a refused request, with the values that it
 * reads, and the remediation. The code that decides computes it.
 *
 * @param evidence - the pod and its Services, if the signer needs them, or the reason why the user
 *   may not read them
 */
export function afterRefusal(
  request: PodCertificateRequest,
  { signer }: SignerView,
  evidence: PodEvidence | string | undefined,
): Pick<Diagnosis, 'rules' | 'remediation'> {
  const asIs = { remediation: [MEND] };
  if (signer?.spec.pods === undefined) return asIs;
  const { allow } = signer.spec.pods;
  const found = attempt(() => {
    const profile = compileProfile(signer.spec);
    const { pods } = profile;
    if (usableKey(request, profile).kind !== 'key') return undefined;
    const read = typeof evidence === 'object' ? evidence : undefined;
    if (pods === undefined || (pods.readsPod && read === undefined)) return undefined;
    const of = { request, profile, reservedPrefixes: [], evidence: read };
    return { verdict: evaluatePod(of, pods), variables: podVariables(request, pods) };
  });
  if (found === undefined || found instanceof SignerError) return asIs;
  const { verdict, variables } = found;
  if (!('kind' in verdict)) return { remediation: [fixed(request)] };
  if (verdict.kind !== 'deny' || verdict.reason !== 'NotAllowed') return asIs;
  const message = `${quote(allow, SHOWN_EXPRESSION)} is false${readText(allow, variables['pod'])}`;
  const rule = { rule: 'spec.pods.allow', outcome: 'deny', message, nearest: true } as const;
  return { rules: [rule], remediation: [MEND] };
}

function fixed({ metadata: { namespace = '' }, spec }: PodCertificateRequest): string {
  const pod = shellWord(spec.podName);
  return `kubectl delete pod ${pod} -n ${shellWord(namespace)}   # the signer allows it by now; its kubelet does not retry`;
}

/** Returns the values of `pod` that an expression reads. */
function readText(source: string, pod: unknown): string {
  const values = membersOf(pod);
  const names = new Set([...source.matchAll(/\bpod\.(\w+)/g)].map(([, name = '']) => name));
  const read = [...names].flatMap((name) => {
    const value = values[name];
    if (value === undefined) return [];
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return [`pod.${name} ${quote(text)}`];
  });
  return read.length === 0 ? '' : `: it reads ${read.join(', ')}`;
}
