// SPDX-License-Identifier: Apache-2.0

/** `metav1.LabelSelector`. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

type Labels = Readonly<Record<string, string>>;

/**
 * Reports whether the labels match (apimachinery, metav1.LabelSelectorAsSelector). An empty
 * selector matches everything. An unknown operator matches nothing.
 */
export function selects(selector: LabelSelector, labels: Labels = {}): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const equal = Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
  return equal && matchExpressions.every((each) => holds(each, labels));
}

function holds(
  { key, operator, values = [] }: NonNullable<LabelSelector['matchExpressions']>[number],
  labels: Labels,
): boolean {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false;
  }
}

/** Returns the selector as a query parameter `labelSelector`. */
export function labelSelectorText({
  matchLabels = {},
  matchExpressions = [],
}: LabelSelector): string {
  const written: Readonly<Record<string, string>> = { In: 'in', NotIn: 'notin' };
  return [
    ...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`),
    ...matchExpressions.map(({ key, operator, values = [] }) => {
      if (operator === 'Exists') return key;
      if (operator === 'DoesNotExist') return `!${key}`;
      return `${key} ${written[operator] ?? operator} (${values.join(',')})`;
    }),
  ].join(',');
}
