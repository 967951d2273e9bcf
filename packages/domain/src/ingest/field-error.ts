/** A field that broke a rule. `message` names the field as the caller sent it, and the rule (docs/api.md, All ingestion endpoints). */
export class FieldError {
  readonly field: string;
  readonly rule: string;
  readonly message: string;

  constructor(field: string, rule: string) {
    this.field = field;
    this.rule = rule;
    this.message = `${field} ${rule}`;
  }
}
