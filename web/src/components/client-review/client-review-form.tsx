import { useState, type FormEvent, type ReactNode } from "react";
import { TextAreaField } from "@/components/form/text-area-field";
import { TextField } from "@/components/form/text-field";
import { Button } from "@/components/ui/button";
import { useT } from "@/lib/i18n";
import type { ClientReview } from "@/lib/types";

/** The maximum length of a name or a place in characters, as in the reviews table. */
const LINE_MAX = 200;
/** The maximum length of a review's text in characters, as in the reviews table. */
const TEXT_MAX = 5000;

/** The texts of a review that the owner can edit. */
type Texts = Pick<ClientReview, "name" | "place" | "text">;

type ClientReviewFormProps = {
  review: Texts;
  /** Whether a decision is being sent. The fields are then read-only. */
  busy: boolean;
  onApprove(texts: Texts): void;
  onCancel(): void;
  /** Fields below the texts. */
  children: ReactNode;
};

/** The form in which the owner edits a client's review before approving it. */
export function ClientReviewForm({
  review: { name, place, text },
  busy,
  onApprove,
  onCancel,
  children,
}: ClientReviewFormProps) {
  const t = useT();
  const [values, setValues] = useState<Texts>({ name, place, text });
  // Whether the owner has tried to approve the review. From then on, empty required fields are marked.
  const [attempted, setAttempted] = useState(false);
  /** The props of the field for a text. */
  const field = (column: keyof Texts) => ({
    value: values[column],
    readOnly: busy,
    onChange: (event: { target: { value: string } }) =>
      setValues({ ...values, [column]: event.target.value }),
  });
  /** The error text of a required field that is empty. */
  const requiredError = (column: "name" | "text") =>
    attempted && values[column].trim() === "" ? t("commission.required") : undefined;

  function submit(event: FormEvent) {
    event.preventDefault();
    setAttempted(true);
    if (values.name.trim() !== "" && values.text.trim() !== "") onApprove(values);
  }

  return (
    <form onSubmit={submit} noValidate className="mt-4 grid gap-4">
      <TextField
        label={t("reviews.clientName")}
        maxLength={LINE_MAX}
        autoComplete="off"
        required
        error={requiredError("name")}
        {...field("name")}
      />
      <TextField
        label={t("reviews.location")}
        maxLength={LINE_MAX}
        autoComplete="off"
        optional
        {...field("place")}
      />
      <TextAreaField
        label={t("reviews.message")}
        rows={5}
        maxLength={TEXT_MAX}
        required
        error={requiredError("text")}
        {...field("text")}
      />
      {children}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" size="sm" loading={busy}>
          {t("clientReview.approveEdited")}
        </Button>
        <Button variant="ghost" size="sm" disabled={busy} onClick={onCancel}>
          {t("common.cancel")}
        </Button>
      </div>
    </form>
  );
}
