import type { UseFormReturn } from "react-hook-form";
import { TwoLanguages } from "@/components/form/two-languages";
import type { CoverValues } from "@/features/admin-covers/schema";
import { useT } from "@/lib/i18n";

type CoverTextsProps = {
  form: Pick<UseFormReturn<CoverValues>, "register" | "control" | "setValue" | "setFocus">;
};

/**
 * The inputs for the texts of a cover (a large picture or video at the top of the home page), in both languages: title, description
 * and alternative text (what the picture shows, in words).
 */
export function CoverTexts({ form }: CoverTextsProps) {
  const t = useT();
  return (
    <>
      <TwoLanguages form={form} names={{ en: "title", pt: "title_pt" }} label={t("covers.title")} />
      <TwoLanguages
        form={form}
        names={{ en: "description", pt: "description_pt" }}
        label={t("covers.description")}
      />
      <TwoLanguages
        form={form}
        names={{ en: "alt_en", pt: "alt_pt" }}
        label={t("covers.alt")}
        hint={t("covers.altHint")}
      />
    </>
  );
}
