import { useLocation, useNavigate } from "react-router";
import { scrollToSection, scrollToSectionAfterNavigation } from "@/lib/scroll";

/** Returns a function that scrolls to a section of the home page; from other pages it navigates there first. */
export function useSectionScroll(): (id: string) => void {
  const { pathname } = useLocation();
  const navigate = useNavigate();
  return (id) => {
    if (pathname === "/") {
      scrollToSection(id);
      return;
    }
    void navigate("/");
    scrollToSectionAfterNavigation(id);
  };
}
