// Words and signs put together to a text as people write it, for generated text.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace fovea {

// A space between words, but none before , . ! ? ; : % closing brackets and quotes and English
// clitics ('s n't), none after opening ones, ¿ ¡ $ and elided words (l'), none round hyphens and
// slashes, and none between words of scripts that write none. Of straight quotes the first opens
// and the next closes; an apostrophe that has no partner closes.
std::string join_words(std::span<const std::string_view> words);

}  // namespace fovea
