// SPDX-License-Identifier: Apache-2.0
// Where the files are that come with the program: "LICENSE" (the text from which tokens are drawn unless told
// otherwise) and "models/gpt2.json".
#pragma once

#include <filesystem>
#include <string>

namespace tpc {

// Of an installed program the file below share/ beside it, else the file in the source tree that the program
// was built from. Throws EnvironmentError where neither exists.
std::filesystem::path data_path(const std::string& name);

struct DataFolders {
  std::filesystem::path installed;
  std::filesystem::path source;
};
DataFolders data_folders(const std::filesystem::path& executable);
std::filesystem::path data_path(const std::string& name, const DataFolders& folders);

}  // namespace tpc
