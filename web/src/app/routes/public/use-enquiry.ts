import { useEffect, useState } from "react";
import { useLocation, useNavigate } from "react-router";
import { useLanguage } from "@/lib/i18n";
import { rowText } from "@/lib/local-text";
import { scrollToSectionAfterNavigation } from "@/lib/scroll";
import type { Product } from "@/lib/types";
import type { Enquiry } from "@/features/contact/enquiry";

/** The state of the home page's history entry after useStartEnquiry has navigated to it. */
type HistoryState = { enquiry?: Enquiry };

// An enquiry is the work that a new message is about. It is started on the home page or in the gallery, and the contact form of the
// home page receives it.

/**
 * Returns a function that starts an enquiry. The function navigates to the contact form on the home page and passes the work in the
 * state of the history entry.
 */
export function useStartEnquiry(): (product: Product) => void {
  const navigate = useNavigate();
  const { language } = useLanguage();
  return (product) => {
    const enquiry: Enquiry = { ...product, title: rowText(language, product, "title").text };
    void navigate("/", { state: { enquiry } satisfies HistoryState });
    scrollToSectionAfterNavigation("contact");
  };
}

/**
 * The enquiry that the visitor has started on this or another page (useStartEnquiry); null if there is none. It is moved from the
 * history entry to the state of the home page, so that a reload does not start the enquiry again.
 */
export function useEnquiry(): Enquiry | null {
  const location = useLocation();
  const navigate = useNavigate();
  const [enquiry, setEnquiry] = useState<Enquiry | null>(null);
  const startedEnquiry = (location.state as HistoryState | null)?.enquiry;
  const { search } = location;

  // Moves the enquiry from the history entry to the state.
  useEffect(() => {
    if (!startedEnquiry) return;
    setEnquiry(startedEnquiry);
    void navigate({ pathname: "/", search }, { replace: true, state: null });
  }, [startedEnquiry, search, navigate]);

  return enquiry;
}
