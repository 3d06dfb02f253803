// SPDX-License-Identifier: Apache-2.0
import type { PodCertificateRequest } from '../../api/request/pod-certificate-request.ts';
import { evaluatePod } from '../../controllers/pcr-issuer/decide.ts';
import type { PodEvidence } from '../../controllers/pcr-issuer/evidence/evidence.ts';
import { SignerError, attempt } from '../../errors.ts';
import { podVariables } from '../../issuance/pod-subject.ts';
import { compileProfile } from '../../issuance/profile.ts';
import { quote, shellWord } from '../../quote.ts';
import type { Journey } from '../explanation.ts';
import type { SignerView } from '../signer-view.ts';

/** A kubelet takes a Denied or Failed request for permanent (podcertificatemanager.go). */
const MEND =
  'correct what is named, in the pod or in spec.pods of the signer, then delete the pod: its kubelet does not ask again';

/** A screen of it. */
const SHOWN_EXPRESSION = 500;

/**
 * What `spec.pods.allow` says of a refused request now, with the values that it reads, and what is left to do. Computed by
 * the code that decides.
 *
 * @param evidence - what the user may read of the pod and its Services, where the signer asks for it; a text: why not
 */
export function afterRefusal(
  request: PodCertificateRequest,
  { signer }: SignerView,
  evidence: PodEvidence | string | undefined,
): Pick<Journey, 'rules' | 'todo'> {
  const asIs = { todo: [MEND] };
  if (signer?.spec.pods === undefined) return asIs;
  const { allow } = signer.spec.pods;
  const found = attempt(() => {
    const profile = compileProfile(signer.spec);
    const { pods } = profile;
    if (pods === undefined || (pods.readsPod && typeof evidence !== 'object')) return undefined;
    const of = { request, profile, reservedPrefixes: [], evidence: evidence as PodEvidence };
    return { verdict: evaluatePod(of, pods), variables: podVariables(request, pods) };
  });
  if (found === undefined || found instanceof SignerError) return asIs;
  const { verdict, variables } = found;
  if (!('kind' in verdict)) return { todo: [mended(request)] };
  if (verdict.kind !== 'deny' || verdict.reason !== 'NotAllowed') return asIs;
  const message = `${quote(allow, SHOWN_EXPRESSION)} is false${readText(allow, variables['pod'])}`;
  const rule = { rule: 'spec.pods.allow', outcome: 'deny', message, nearest: true } as const;
  return { rules: [rule], todo: [MEND] };
}

function mended({ metadata: { namespace = '' }, spec }: PodCertificateRequest): string {
  const pod = shellWord(spec.podName);
  return `kubectl delete pod ${pod} -n ${shellWord(namespace)}   # the signer allows it by now; its kubelet does not ask again`;
}

/** The values of `pod` that an expression names. */
function readText(source: string, pod: unknown): string {
  const values = pod as Readonly<Record<string, unknown>>;
  const names = new Set([...source.matchAll(/\bpod\.(\w+)/g)].map(([, name = '']) => name));
  const read = [...names].flatMap((name) => {
    const value = values[name];
    if (value === undefined) return [];
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return [`pod.${name} ${quote(text)}`];
  });
  return read.length === 0 ? '' : `: it reads ${read.join(', ')}`;
}
